import subprocess
import sys

from llvmlite import binding

from numbad.compilation import large_functions
from numbad.compilation.large_functions import is_large, quickly


def module(blocks, instructions):
    """A function of so many blocks, with so many instructions in each."""
    lines = ["define double @f(double %x) {", "first:", "  br label %b0"]
    value = "%x"
    for k in range(blocks):
        lines.append(f"b{k}:")
        for i in range(instructions - 1):
            lines.append(f"  %v{k}.{i} = fmul double {value}, 1.5")
            value = f"%v{k}.{i}"
        lines.append(f"  br label %b{k + 1}" if k < blocks - 1 else f"  ret double {value}")
    return binding.parse_assembly("\n".join([*lines, "}", "declare double @g(double)"]))


def test_large_functions_have_many_blocks_and_many_instructions():
    found = [
        any(map(is_large, module(*shape).functions)) for shape in ((10, 1100), (700, 3), (700, 15))
    ]
    assert found == [False, False, True]


def test_the_order_of_instructions_is_left_for_large_modules_alone(monkeypatch):
    large_functions._update_ranges_late()  # once in a process
    options = []
    monkeypatch.setattr(
        large_functions.binding, "set_option", lambda _, option: options.append(option)
    )
    with quickly(module(10, 10)):
        pass
    assert options == []
    with quickly(module(700, 15)):
        assert options == ["-enable-misched=false"]
    assert options == ["-enable-misched=false", "-enable-misched=true"]


CONSTANTS = """
import sys
from llvmlite import binding
from numbad.compilation.large_functions import quickly

binding.initialize_native_target()
binding.initialize_native_asmprinter()
text = ["declare void @g(double, double)", "define void @f(double %x) {", "b0:"]
for k in range(300):
    text += [f"  call void @g(double %x, double {k % 7}.5)", f"  br label %b{k + 1}", f"b{k + 1}:"]
module = binding.parse_assembly("\\n".join([*text, "  ret void", "}"]))
machine = binding.Target.from_default_triple().create_target_machine(opt=3)
if sys.argv[1:]:
    with quickly(module):
        pass
print(machine.emit_assembly(module))
"""


def test_ranges_that_are_brought_up_to_date_once_give_the_same_code():
    """In processes of their own: the option stays."""
    plain, late = (
        subprocess.run([sys.executable, "-c", CONSTANTS, *given], capture_output=True, text=True)
        for given in ([], ["late"])
    )
    assert plain.stdout.count("call") >= 300, plain.stderr
    assert plain.stdout == late.stdout
