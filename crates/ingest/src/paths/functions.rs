//! The functions and files that paths lead through, each once.

use proust_profile::{Function, FunctionId, Module, ModuleId};
use proust_structure::{InterpretedCode, Names};

use super::entrances::Role;
use super::{FileId, Paths, UNKNOWN_MODULE};

impl Paths<'_> {
    pub(super) fn function(&mut self, module: ModuleId, position: u32) -> FunctionId {
        if let Some(&known) = self.function_ids.get(&(module, position)) {
            return known;
        }
        let structure = self.modules.structures.get(module.index());
        let id = match structure.and_then(|structure| structure.functions.get(position as usize)) {
            Some(known) => self.add(Function {
                name: known.name.clone(),
                full_name: known.full_name.clone(),
                linkage_name: known.linkage_name.clone(),
                module: Some(module),
                file: known.file.clone(),
                line: known.line,
            }),
            None => {
                let file = self.modules.modules.get(module.index()).map_or(UNKNOWN_MODULE, Module::name);
                self.named(Some(module), &format!("{file}, function {position}"))
            }
        };
        self.function_ids.insert((module, position), id);
        id
    }

    pub(super) fn made(&mut self, module: ModuleId, names: &Names) -> FunctionId {
        if let Some(&known) = self.named.get(&(Some(module), names.full.clone())) {
            return known;
        }
        let id = self.add(Function {
            name: names.short.clone(),
            full_name: names.full.clone(),
            linkage_name: None,
            module: Some(module),
            file: None,
            line: None,
        });
        self.named.insert((Some(module), names.full.clone()), id);
        id
    }

    pub(super) fn interpreted(&mut self, code: &InterpretedCode) -> FunctionId {
        let module = self.modules.interpreted(&code.file);
        // A file may define several functions of one name.
        let key = (module, format!("{}:{}", code.name, code.first_line));
        if let Some(&known) = self.named.get(&key) {
            return known;
        }
        let id = self.add(Function {
            name: code.name.clone(),
            full_name: code.name.clone(),
            linkage_name: None,
            module,
            file: Some(code.file.clone()),
            line: Some(code.first_line),
        });
        self.named.insert(key, id);
        id
    }

    fn module_of(&self, function: &Function) -> Option<&Module> {
        function.module.and_then(|module| self.modules.modules.get(module.index()))
    }

    /// Whether an interpreter executes a function.
    pub(super) fn is_interpreted(&self, id: FunctionId) -> bool {
        let function = self.functions.get(id.index());
        function.is_some_and(|function| function.is_interpreted(self.module_of(function)))
    }

    /// Whether it is the interpreter's own, by which one function of Python executes another.
    pub(super) fn is_between_interpreted(&self, id: FunctionId) -> bool {
        let function = self.functions.get(id.index());
        self.roles.get(id.index()) == Some(&Role::Entrance)
            && function.and_then(|function| self.module_of(function)).is_some_and(Module::is_python)
    }

    pub(super) fn named(&mut self, module: Option<ModuleId>, name: &str) -> FunctionId {
        if let Some(&known) = self.named.get(&(module, name.to_owned())) {
            return known;
        }
        let id = self.add(Function {
            name: name.into(),
            full_name: name.into(),
            linkage_name: None,
            module,
            file: None,
            line: None,
        });
        self.named.insert((module, name.into()), id);
        id
    }

    fn add(&mut self, function: Function) -> FunctionId {
        let role = Role::of(&function, self.module_of(&function));
        self.roles.push(role);
        self.functions.push(function);
        FunctionId::from_index(self.functions.len() - 1)
    }

    pub(super) fn file(&mut self, name: &str) -> FileId {
        if let Some(&known) = self.files.get(name) {
            return known;
        }
        let id = self.file_names.len() as FileId;
        self.file_names.push(name.into());
        self.files.insert(name.into(), id);
        id
    }
}
