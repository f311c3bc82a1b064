from __future__ import annotations

import pytest

from lockforge.detect import nvidia_texts as texts
from lockforge.detect.nvidia_texts import Identity, Libraries, ListedGpu


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("580.95.05\n", "580.95.05"),
        ("470.86", "470.86"),
        ("", None),
        ("580", None),
        ("(null)\n", None),
        ("580.95.05\n570.1\n", None),
    ],
)
def test_the_module_states_nothing_but_its_version(text: str, version: str | None) -> None:
    """Anything beside one version is no version."""
    assert texts.read_module_version(text) == version


@pytest.mark.parametrize(
    "text",
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.127.05  Tue Oct  8 03:22:07 2024\n"
            "GCC version:  gcc version 12.3.0\n"
        ),
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.127.05  Release Build\n",
        "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  550.127.05",
    ],
)
def test_kernel_modules_open_and_closed(text: str) -> None:
    """The version is found in either layout, whatever the machine."""
    assert texts.read_proc_version(text) == "550.127.05"


def test_the_compiler_is_no_driver() -> None:
    """Half a file gives no version of something else."""
    assert texts.read_proc_version("GCC version:  gcc version 12.3.0\n") is None
    assert texts.read_proc_version("NVRM version: NVIDIA UNIX x86_64 Kernel Mod") is None


def test_one_gpu_a_line() -> None:
    """Versions of two parts are versions, and a return at the end is no part of the name."""
    text = "572.60, 8.9, NVIDIA GeForce RTX 4090\r\n572.60, 12.0, NVIDIA B\r\n"

    assert texts.read_csv(text) == (
        ListedGpu(name="NVIDIA GeForce RTX 4090", driver="572.60", compute_cap="8.9"),
        ListedGpu(name="NVIDIA B", driver="572.60", compute_cap="12.0"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No devices were found\n",
        'Field "compute_cap" is not a valid field to query.\n',
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144",
        "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.\n",
        "driver_version, compute_cap, name\n",
        "580.95.05, 8.",
        "580.95.05, 8.6, ",
        "580.95.05\n",
    ],
)
def test_sentences_and_half_lines_are_no_gpus(text: str) -> None:
    """A line is a GPU only where it has all three fields, and a driver's version first."""
    assert texts.read_csv(text) == ()


@pytest.mark.parametrize("word", ["[N/A]", "[Not Supported]", "ERR!", "N/A", "[Unknown Error]"])
def test_fields_the_driver_cannot_tell(word: str) -> None:
    """The GPU is there, and neither its name nor its capability is made up."""
    assert texts.read_csv(f"580.95.05, {word}, {word}\n") == (
        ListedGpu(name=None, driver="580.95.05", compute_cap=None),
    )
    assert texts.read_csv(f"{word}, 8.9, NVIDIA L4\n") == (
        ListedGpu(name="NVIDIA L4", driver=None, compute_cap="8.9"),
    )


@pytest.mark.parametrize(
    ("name", "virtual"),
    [
        ("NVIDIA L4-12Q", True),
        ("GRID T4-16Q", True),
        ("NVIDIA A100-1-5CME", True),
        ("NVIDIA A100-SXM4-80GB", False),
        ("NVIDIA H100 80GB HBM3", False),
        ("Tesla T4", False),
    ],
)
def test_virtual_gpus_by_their_profile(name: str, virtual: bool) -> None:  # noqa: FBT001
    """Memory in a name is no profile of a virtual GPU."""
    assert texts.is_vgpu(name) is virtual


@pytest.mark.parametrize(
    ("banner", "driver", "cuda"),
    [
        ("Driver Version: 580.95.05    CUDA Version: 13.0 |", "580.95.05", "13.0"),
        ("KMD Version: 610.43.02     CUDA UMD Version: 13.3     |", "610.43.02", "13.3"),
        ("Driver Version: 455.45.01    CUDA Version: N/A      |", "455.45.01", None),
        ("Driver Version: 580.95.", None, None),
        ("Treiberversion: 580.95.05", None, None),
    ],
)
def test_banners(banner: str, driver: str | None, cuda: str | None) -> None:
    """Both spellings are read; a word in the number's place and half a line are not."""
    text = f"| NVIDIA-SMI 1.2.3   {banner}"

    assert (texts.read_banner_driver(text), texts.read_banner_cuda(text)) == (driver, cuda)


def test_the_table_below_the_banner() -> None:
    """Its rows name the GPUs; a name that was cut to fit is none."""
    text = (
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A |\n"
        "|   0  NVIDIA B200                    On  |   00000000:63:00.0 Off |  0 |\n"
        "|   1  GeForce RTX 208...  Off  | 00000000:01:00.0  On |  N/A |\n"
        "| N/A   26C    P0            139W / 1000W |       0MiB / 183359MiB |\n"
    )

    assert texts.read_banner_gpus(text) == (ListedGpu(name="NVIDIA B200"), ListedGpu(name=None))


def test_list_of_identities() -> None:
    """MIG devices belong to the GPU they stand under, and those of neither form are left out."""
    text = (
        "  MIG 1g.5gb      Device  0: (UUID: MIG-of-none)\n"
        "GPU 0: NVIDIA A100 (UUID: GPU-aa)\n"
        "  MIG 3g.20gb     Device  0: (UUID: MIG-bb)\n"
        "  MIG 1g.5gb+me   Device  1: (UUID: MIG-GPU-aa/7/0)\n"
        "GPU 1: NVIDIA A30\n"
        "GPU 2: NVIDIA A30 (UUID: "
    )

    assert texts.read_list(text) == {
        0: Identity(uuid="GPU-aa", migs=(("3g.20gb", "MIG-bb"), ("1g.5gb+me", "MIG-GPU-aa/7/0"))),
        1: Identity(uuid=None),
        2: Identity(uuid=None),
    }


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("32.0.15.7283", "572.83"),
        ("31.0.15.3623", "536.23"),
        ("27.21.14.5671", "456.71"),
        ("9.18.13.697", "306.97"),
        ("10.0.22621.1", None),
        ("32.0.101.6913", None),
        ("572.83", None),
        ("", None),
    ],
)
def test_windows_spelling_of_a_driver(text: str, version: str | None) -> None:
    """The last five digits count; drivers of other shapes are not NVIDIA's."""
    assert texts.read_windows_driver(text) == version


def test_libraries() -> None:
    """Each line holds for itself, so that those before a crash count."""
    text = "nvml_driver=580.95.05\ngpus_from=nvml\ngpu=NVIDIA L4, 8.9\ngpu=NVIDIA, 8.\ncuda_ver"

    assert texts.read_libraries(text) == Libraries(
        driver="580.95.05", gpus=(ListedGpu(name="NVIDIA L4", compute_cap="8.9"),)
    )
    assert texts.read_libraries("nvml=absent\ncuda=absent\n") == Libraries()
    assert texts.read_libraries("nvml_error=18\n") == Libraries(failed=True, mismatch=True)
