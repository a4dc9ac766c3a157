import { readdirSync, readFileSync } from 'node:fs'

/** A process and all that came of it. Linux only. */
export function processTree(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // It has just ended.
    }
  }
  const tree = [root]
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child)
  }
  return tree
}

/** The command line of a process; empty once it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
