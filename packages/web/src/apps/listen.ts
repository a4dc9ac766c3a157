import type { AppConnection } from './app-connection.ts'

/** Hands the messages of the sandbox in a frame to a connection. Returns a function that ends it. */
export function listen(
  frame: HTMLIFrameElement,
  connection: Pick<AppConnection, 'receive' | 'count'>,
): () => void {
  // Only reading the data of a message costs as much as it has.
  const take = (event: MessageEvent<unknown>): void => {
    const { source, origin } = event
    const sandbox = frame.contentWindow
    if (source === null || sandbox === null) return
    if (source === sandbox) {
      // The sandbox has no origin, and sends the messages of the app as text.
      if (origin === 'null' && typeof event.data === 'string') connection.receive(event.data)
      // Messages past the sandbox are not read, but a flood of them ends the app.
    } else if (isWithin(source, sandbox)) connection.count()
  }
  addEventListener('message', take)
  return () => removeEventListener('message', take)
}

/** Whether a window is in a frame, at any depth. The parents of foreign windows can be read. */
function isWithin(source: MessageEventSource, frame: Window): boolean {
  if (!('parent' in source)) return false
  let each: Window = source
  while (each.parent !== each) {
    each = each.parent
    if (each === frame) return true
  }
  return false
}
