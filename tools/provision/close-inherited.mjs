import { closeSync, readdirSync, readFileSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000

/**
 * Closes what the caller of this process left open beside the standard streams: a program started from here would get it,
 * and reach by an open folder what its sandbox hides. Does nothing where there is no `/proc`.
 */
export function closeInherited() {
  for (const name of list('/proc/self/fdinfo')) {
    const fd = Number(name)
    // Node opens its own so that they end at the start of another program.
    if (fd <= 2 || name === process.env.NODE_CHANNEL_FD || endsAtExec(fd)) continue
    closeSync(fd)
  }
}

function endsAtExec(fd) {
  try {
    const [, flags] = /^flags:\t(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))
    return (parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0
  } catch {
    // It was the folder that was listed.
    return true
  }
}

function list(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
