use std::collections::BTreeSet;

use crate::build::{build, resolve, symbols};

const SOLVER: &str = "module solver
contains
  subroutine step(x)
    real, intent(inout) :: x(:)
    integer :: i
    do i = 1, size(x)
      x(i) = x(i) * 1.5
    end do
  end subroutine
end module
subroutine outside(x)
  real, intent(inout) :: x(:)
  x = x + 1
end subroutine
program heat
  use solver
  interface
    subroutine outside(x)
      real, intent(inout) :: x(:)
    end subroutine
  end interface
  real :: field(100)
  field = 1
  call step(field)
  call outside(field)
  call inner(field)
  print *, sum(field)
contains
  subroutine inner(x)
    real, intent(inout) :: x(:)
    x = x - 1
  end subroutine
end program
";

#[test]
fn procedures_have_the_names_of_the_source() {
    let sources = [("solver.f90", SOLVER)];
    for (flags, expected) in [
        (&["-g", "-O0"][..], &[("solver::step", 3), ("outside", 11), ("heat", 15), ("inner", 29)][..]),
        (&["-O0"], &[("solver::step", 0), ("outside_", 0), ("MAIN__", 0), ("inner", 0)]),
    ] {
        let Some(program) = build("gfortran", &sources, flags) else { return };
        let middles: Vec<u64> = symbols(&program.binary).values().map(|&(a, size)| a + size / 2).collect();
        let structure = resolve(&program.binary, &middles);
        let functions: BTreeSet<(&str, u32)> =
            structure.functions.iter().map(|f| (f.name.as_str(), f.line.unwrap_or(0))).collect();
        for function in expected {
            assert!(functions.contains(function), "{flags:?}: no {function:?} in {functions:#?}");
        }
    }
}
