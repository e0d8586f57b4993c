{ Photographs are scaled by threads, and a thumbnail of each is entered into an album. }
program pascal_synchronize;

{$mode objfpc}{$H+}

uses
  cthreads, Classes, SysUtils;

const
  Photographs = 400;
  Pixels = 40000;

type
  TScaler = class(TThread)
  private
    Photograph: LongInt;
    Row: array[0..Pixels - 1] of Double;
    procedure Scale;
    procedure EnterThumbnail;
  protected
    procedure Execute; override;
  end;

var
  Next: LongInt = 0;
  Running: LongInt = 0;
  Album: array[0..Photographs - 1] of Double;

procedure TScaler.Scale;
var
  Pixel: LongInt;
begin
  for Pixel := 0 to Pixels - 1 do
    Row[Pixel] := Sqrt(Photograph + Pixel + 0.5) + Sqrt(Pixel + 0.25);
end;

procedure TScaler.EnterThumbnail;
var
  Pixel, Pass: LongInt;
  Sum: Double;
begin
  Sum := 0;
  for Pass := 1 to 6 do
    for Pixel := 1 to Pixels - 2 do
      Sum := Sum * 0.999 + Sqrt(Row[Pixel - 1] + Row[Pixel] * Pass + Row[Pixel + 1]);
  Album[Photograph] := Sum;
end;

procedure TScaler.Execute;
begin
  Photograph := InterlockedIncrement(Next) - 1;
  while Photograph < Photographs do
  begin
    Scale;
    Synchronize(@EnterThumbnail); { FAULT: the main thread makes all thumbnails while the others wait }
    Photograph := InterlockedIncrement(Next) - 1;
  end;
  InterlockedDecrement(Running);
end;

var
  Scalers: array of TScaler;
  Number: LongInt;
  Sum: Double;

begin
  Running := StrToInt(ParamStr(1));
  SetLength(Scalers, Running);
  for Number := 0 to High(Scalers) do
    Scalers[Number] := TScaler.Create(False);
  while Running > 0 do
    CheckSynchronize(20);
  Sum := 0;
  for Number := 0 to High(Scalers) do
  begin
    Scalers[Number].WaitFor;
    Scalers[Number].Free;
  end;
  for Number := 0 to Photographs - 1 do
    Sum := Sum + Album[Number];
  WriteLn(Sum:0:3);
end.
