import { Socket } from 'node:net'
import { watchParent } from './provision/watch-parent.mjs'

let signal: AbortSignal | undefined

/**
 * Aborts when the launcher (`run.mjs`) has ended for any reason: the pipe that it handed down then ends. If the launcher
 * was replaced by this program, aborts when the package manager has ended that ran it. Never aborts otherwise.
 */
export function lifelineSignal(): AbortSignal {
  signal ??= watchLifeline()
  return signal
}

/**
 * Ends this process with the launcher, or without an error when the reader of its output has ended, as in
 * `… | head -1`. For programs that have nothing to close.
 */
export function stopWithLauncher(): void {
  lifelineSignal().addEventListener('abort', () => process.exit(1))
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
  }
}

function watchLifeline(): AbortSignal {
  const launcherGone = new AbortController()
  const lifelineFd = process.env['MCP_HOST_LIFELINE_FD']
  // Processes that are started from here use this descriptor for something else.
  delete process.env['MCP_HOST_LIFELINE_FD']
  if (lifelineFd === 'parent') watchParent(() => launcherGone.abort())
  const fd = Number(lifelineFd)
  if (!fd) return launcherGone.signal

  const lifeline = new Socket({ fd, readable: true, writable: false })
  lifeline.on('error', () => launcherGone.abort())
  lifeline.on('close', () => launcherGone.abort())
  lifeline.resume()
  lifeline.unref()
  return launcherGone.signal
}
