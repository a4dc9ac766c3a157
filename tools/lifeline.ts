import { Socket } from 'node:net'

let signal: AbortSignal | undefined

/**
 * Aborts when the launcher (`run.mjs`) has ended for any reason: the pipe that it handed down then ends. Never aborts
 * in a program that was started without a launcher.
 */
export function lifelineSignal(): AbortSignal {
  signal ??= watchLifeline()
  return signal
}

/** Ends this process with the launcher. For programs that have nothing to close. */
export function stopWithLauncher(): void {
  lifelineSignal().addEventListener('abort', () => process.exit(1))
}

function watchLifeline(): AbortSignal {
  const launcherGone = new AbortController()
  const fd = Number(process.env['MCP_HOST_LIFELINE_FD'])
  // Processes that are started from here use this descriptor for something else.
  delete process.env['MCP_HOST_LIFELINE_FD']
  if (!fd) return launcherGone.signal

  const lifeline = new Socket({ fd, readable: true, writable: false })
  lifeline.on('error', () => launcherGone.abort())
  lifeline.on('close', () => launcherGone.abort())
  lifeline.resume()
  lifeline.unref()
  return launcherGone.signal
}
