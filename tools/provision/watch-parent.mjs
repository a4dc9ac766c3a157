import { readFileSync } from 'node:fs'

const pollMs = 500

/**
 * Calls back once when the package manager that runs this process is gone. Killed outright it cannot pass a signal on;
 * all that shows is that its children get another parent.
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

/** The parent, and if that is only the shell around a script, the parent's parent, which is the package manager. */
function ancestry() {
  const parent = readProcess(process.ppid)
  return parent?.name.endsWith('sh') ? `${process.ppid} ${parent.parent}` : `${process.ppid}`
}

/** Name and parent of a process. Only Linux tells; elsewhere the usual shell gives its place to the script. */
function readProcess(pid) {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return { name, parent }
  } catch {
    // Gone, or not to be known: then the parent's id alone has to do.
    return undefined
  }
}
