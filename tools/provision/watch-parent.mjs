import { readFileSync } from 'node:fs'

const pollMs = 500

/** Whether a package manager runs this process. */
export const isFromNpm = Boolean(process.env.npm_lifecycle_event)

/**
 * Calls `onGone` once when the package manager that runs this process has ended. A package manager that is killed cannot
 * forward a signal, but its children get another parent.
 */
export function watchParent(onGone) {
  const family = ancestry()
  const timer = setInterval(() => {
    if (ancestry() === family) return
    clearInterval(timer)
    onGone()
  }, pollMs)
  timer.unref()
}

/** The ids of the ancestors up to the package manager: the parent, or a shell and the parent of the shell. */
function ancestry() {
  const parent = readProcess(process.ppid)
  return parent?.name.endsWith('sh') ? `${process.ppid} ${parent.parent}` : `${process.ppid}`
}

/** Name and parent of a process on Linux. Elsewhere the usual shell replaces itself with the script, so none is needed. */
function readProcess(pid) {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return { name, parent }
  } catch {
    // The process has ended, or this is not Linux: the caller then compares the parent's id alone.
    return undefined
  }
}
