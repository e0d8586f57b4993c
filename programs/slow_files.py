"""A file system that takes its time and has a quota, as one across a network: what is in it is gone with it.

slow_files.py FOLDER DELAY_S QUOTA_BYTES RESERVES COMMAND …: mounts it over FOLDER (in a mount namespace of
the caller's own), runs COMMAND and ends as that did, or with 77 where it cannot be mounted. Each answer
takes DELAY_S. RESERVES is 1 if space can be reserved (fallocate), 0 if it cannot, as before NFS 4.2. Beyond
QUOTA_BYTES nothing is reserved or made longer.
"""
import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys
import time

folder, delay_s, quota_bytes, reserves = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1"
libc = ctypes.CDLL(None, use_errno=True)


class Node:
    def __init__(self, mode):
        self.mode, self.content, self.entries = mode, bytearray(), {}


# By number; 1 is the root, and numbers are never used again.
nodes = {1: Node(stat.S_IFDIR | 0o755)}


class Refused(Exception):
    """With an error number."""


def attributes(number):
    node = nodes[number]
    size = len(node.content)
    return struct.pack("<6Q10I", number, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, node.mode, 1, 0, 0, 0,
                       4096, 0)


def entry(number):
    return struct.pack("<4Q2I", number, 0, 1, 1, 0, 0) + attributes(number)


def text(data):
    return bytes(data).split(b"\0")[0]


def child(number, name):
    if name not in nodes[number].entries:
        raise Refused(errno.ENOENT)
    return nodes[number].entries[name]


def make(parent, name, mode):
    if name in nodes[parent].entries:
        raise Refused(errno.EEXIST)
    number = max(nodes) + 1
    nodes[number] = Node(mode)
    nodes[parent].entries[name] = number
    return number


def lengthen(number, size):
    content = nodes[number].content
    if size > len(content):
        if sum(len(node.content) for node in nodes.values()) + size - len(content) > quota_bytes:
            raise Refused(errno.EDQUOT)
        content.extend(bytes(size - len(content)))


def rename(number, new_parent, names):
    old, new = bytes(names).split(b"\0")[:2]
    moved = child(number, old)
    del nodes[number].entries[old]
    nodes[new_parent].entries[new] = moved
    return b""


def folder_list(number, offset, size):
    found = b""
    for position, (name, child_number) in list(enumerate(nodes[number].entries.items(), 1))[offset:]:
        one = struct.pack("<2Q2I", child_number, position, len(name), nodes[child_number].mode >> 12) + name
        one += bytes(-len(one) % 8)
        if len(found) + len(one) > size:
            break
        found += one
    return found


def answer(code, number, data):
    """What is answered to a request; None: nothing."""
    if code == 26:  # the beginning: large writes
        return struct.pack("<4I2H2I2H2I12H", 7, 31, 0, 1 << 5, 16, 12, 131072, 1, 0, 0, 0, 0, *[0] * 12)
    if code in (2, 36, 42):  # forget, interrupt
        return None
    if code == 1:
        return entry(child(number, text(data)))
    if code == 3:
        return struct.pack("<Q2I", 1, 0, 0) + attributes(number)
    if code == 4:
        valid, _, _, size = struct.unpack_from("<2I2Q", data)
        if valid & 8:
            lengthen(number, size)
            del nodes[number].content[size:]
        if valid & 1:
            mode = struct.unpack_from("<I", data, 68)[0]
            nodes[number].mode = stat.S_IFMT(nodes[number].mode) | stat.S_IMODE(mode)
        return struct.pack("<Q2I", 1, 0, 0) + attributes(number)
    if code == 9:
        return entry(make(number, text(data[8:]), stat.S_IFDIR | struct.unpack_from("<I", data)[0] & 0o777))
    if code == 35:
        made = make(number, text(data[16:]), stat.S_IFREG | struct.unpack_from("<I", data, 4)[0] & 0o777)
        return entry(made) + struct.pack("<Q2I", 0, 0, 0)
    if code in (10, 11):
        child(number, text(data))
        del nodes[number].entries[text(data)]
        return b""
    if code == 12:
        return rename(number, struct.unpack_from("<Q", data)[0], data[8:])
    if code == 45:
        return rename(number, struct.unpack_from("<Q", data)[0], data[16:])
    if code in (14, 27):
        return struct.pack("<Q2I", 0, 0, 0)
    if code == 15:
        _, offset, size = struct.unpack_from("<2QI", data)
        return bytes(nodes[number].content[offset:offset + size])
    if code == 16:
        _, offset, size = struct.unpack_from("<2QI", data)
        lengthen(number, offset + size)
        nodes[number].content[offset:offset + size] = data[40:40 + size]
        return struct.pack("<2I", size, 0)
    if code == 17:
        return struct.pack("<5Q4I6I", 1 << 20, 1 << 20, 1 << 20, 0, 0, 4096, 255, 4096, 0, *[0] * 6)
    if code == 28:
        _, offset, size = struct.unpack_from("<2QI", data)
        return folder_list(number, offset, size)
    if code == 43 and reserves:
        _, offset, length = struct.unpack_from("<3Q", data)
        lengthen(number, offset + length)
        return b""
    if code in (18, 20, 25, 29, 30, 38):
        return b""
    raise Refused(errno.ENOSYS)


def serve(device):
    while True:
        try:
            request = os.read(device, 1 << 18)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        length, code, unique, number = struct.unpack_from("<2I2Q", request)
        time.sleep(delay_s)
        error, reply = 0, b""
        try:
            reply = answer(code, number, memoryview(request)[40:length])
        except Refused as refused:
            error = -refused.args[0]
        if reply is not None:
            try:
                os.write(device, struct.pack("<IiQ", 16 + len(reply), error, unique) + reply)
            except OSError as gone:
                # Whoever asked was killed meanwhile.
                if gone.errno != errno.ENOENT:
                    raise


try:
    device = os.open("/dev/fuse", os.O_RDWR)
except OSError as error:
    print("no FUSE:", error, file=sys.stderr)
    sys.exit(77)
options = f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other"
if libc.mount(b"slow_files", folder.encode(), b"fuse", 0, options.encode()) != 0:
    print("not mounted:", os.strerror(ctypes.get_errno()), file=sys.stderr)
    sys.exit(77)
if os.fork() == 0:
    serve(device)
    os._exit(0)
os.close(device)
status = subprocess.run(sys.argv[5:], check=False).returncode
libc.umount2(folder.encode(), 2)
sys.exit(status if status >= 0 else 128 - status)
