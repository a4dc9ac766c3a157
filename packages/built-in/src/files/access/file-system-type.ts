/** File systems of the Linux kernel whose files are no files, by the numbers of `statfs`. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x6265_6572, // sysfs
  0x6462_6720, // debugfs
  0x7472_6163, // tracefs
  0x7363_6673, // securityfs
  0x27_e0eb, // cgroup
  0x6367_7270, // cgroup2
  0x1cd1, // devpts
  0xcafe_4a11, // bpf
  0xf97c_ff8c, // selinux
])

/** Thrown for an entry of a kernel file system, such as `/proc/self/environ`. */
export class KernelFileSystemError extends Error {
  override readonly name = 'KernelFileSystemError'
}

export function checkFileSystem(type: number): void {
  // Some types exceed 31 bits, and may have a sign.
  if (KERNEL_FILE_SYSTEMS.has(type >>> 0)) throw new KernelFileSystemError()
}
