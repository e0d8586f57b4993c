use super::*;

#[test]
fn short_names_keep_what_identifies_a_function() {
    for (linkage, short) in [
        ("_ZN5space3fooEibc", "space::foo"),
        ("_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden"),
        ("_ZL6statici", "static"),
        ("_Z3maxIiET_S0_S0_", "max<int>"),
        ("_ZSt3maxIdERKT_S2_S2_", "std::max<double>"),
        ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int>::push_back"),
        (
            "_ZNKSt3mapIiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4lessIiE\
             SaISt4pairIKiS5_EEE4findERS9_",
            "std::map<int, std::string>::find",
        ),
        ("_ZltRK1AS1_", "operator<"),
        ("_ZltIiEbRK1AIT_ES4_", "operator< <int>"),
        ("_ZlsIiERSoS0_T_", "operator<< <int>"),
        ("_ZgtIiEbRK1AIT_ES4_", "operator><int>"),
        ("_ZNK1AIiEssERKS0_", "A<int>::operator<=>"),
        ("_ZN3PtrI3FooEptEv", "Ptr<Foo>::operator->"),
        ("_ZN7FunctorclEii", "Functor::operator()"),
        ("_ZN7FunctorclIiEEvT_", "Functor::operator()<int>"),
        ("_ZNK3FoocvbEv", "Foo::operator bool"),
        ("_ZN3FoocvSt6vectorIiSaIiEEEv", "Foo::operator std::vector<int>"),
        ("_ZN3FooC1Ei", "Foo::Foo"),
        ("_ZN3FooD0Ev", "Foo::~Foo"),
        ("_ZN3FooIiEC2Ev", "Foo<int>::Foo"),
        ("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"),
        ("_ZZ5solveiENKUlvE0_clEv", "solve::{lambda()#2}::operator()"),
        (
            "_ZZN1A3runEPFvvEENKUlSt6vectorIiSaIiEEE_clES4_",
            "A::run::{lambda(std::vector<int, std::allocator<int> >)#1}::operator()",
        ),
        ("_ZZNK1A3runEvENKUlvE_clEv", "A::run::{lambda()#1}::operator()"),
        (
            "_ZNSt17_Function_handlerIFvvEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data",
            "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke",
        ),
        ("_ZSt4sortIPiSt4lessIvEEvT_S3_T0_", "std::sort<int*, std::less<void>>"),
        ("_ZNSt3setIiSt7greaterIiESaIiEE6insertEOi", "std::set<int, std::greater<int>>::insert"),
        ("_ZNKSt8functionIFviEEclEi", "std::function<void (int)>::operator()"),
        ("_ZNSt10unique_ptrI3FooSt14default_deleteIS0_EED1Ev", "std::unique_ptr<Foo>::~unique_ptr"),
        ("_Z5solveIfEvPKT_m", "solve<float>"),
        ("_ZZ5solveIfEvT_ENKUlvE_clEv", "solve<float>::{lambda()#1}::operator()"),
        ("_Z3foov.cold", "foo"),
        ("_Z3fooi.isra.0.cold", "foo"),
        ("_Z3foov._omp_fn.0", "foo._omp_fn.0"),
        ("_Z3foov._omp_fn.0.constprop.1", "foo._omp_fn.0"),
        ("_ZThn16_N3Foo3barEv", "{virtual override thunk({offset(-16)}, Foo::bar)}"),
        ("__solver_MOD_step", "solver::step"),
        ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
        (
            "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
            "<alloc::string::String as core::fmt::Debug>::fmt",
        ),
        ("_ZN4core3ptr8do_thing17h0123456789abcdefE.llvm.12345678901234567890", "core::ptr::do_thing"),
        ("_RNvC6_123foo3bar", "123foo::bar"),
        ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
        ("_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}"),
    ] {
        assert_eq!(demangle(linkage).map(|names| names.short).as_deref(), Some(short), "{linkage}");
    }
}

#[test]
fn full_names_keep_parameters_and_arguments() {
    for (linkage, full) in [
        ("_ZN5space3fooEibc", "space::foo(int, bool, char)"),
        ("_Z3maxIiET_S0_S0_", "int max<int>(int, int)"),
        ("_Z3foov.cold", "foo()"),
        ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
    ] {
        assert_eq!(demangle(linkage).map(|names| names.full).as_deref(), Some(full), "{linkage}");
    }
}

#[test]
fn names_that_are_not_mangled_stay() {
    for name in ["main", "i", "_start", "_Zebra", "_R", "_ZN", "__x86.get_pc_thunk.bx", "sub_", "MAIN__", ""]
    {
        assert_eq!(demangle(name), None, "{name}");
    }
    assert_eq!(Names::of_symbol("MAIN__").short, "MAIN__");
    assert_eq!(Names::of_symbol("solve.part.3").short, "solve");
}

#[test]
fn clone_suffixes_are_told_from_other_suffixes() {
    for (name, base) in [
        ("foo.isra.0", "foo"),
        ("foo.constprop.1.isra.0.cold", "foo"),
        ("foo.part.0.lto_priv.3", "foo"),
        ("foo.cold.12", "foo"),
        ("inner.0", "inner"),
        ("main._omp_fn.0", "main._omp_fn.0"),
        ("memcpy.avx2", "memcpy.avx2"),
        ("sum.resolver", "sum.resolver"),
        ("__x86.get_pc_thunk.bx", "__x86.get_pc_thunk.bx"),
        (".cold", ".cold"),
        ("foo", "foo"),
    ] {
        assert_eq!(without_clone_suffix(name), base);
    }
}

#[test]
fn a_short_mangled_name_of_exponential_length_is_refused() {
    let mut name = String::from("_Z1fI1AE");
    name.push_str("S_IS0_S0_E");
    for n in 0..30u8 {
        let previous = (b'1' + n % 9) as char;
        name.push_str(&format!("S_IS{previous}_S{previous}_E"));
    }
    let _ = demangle(&name);
}
