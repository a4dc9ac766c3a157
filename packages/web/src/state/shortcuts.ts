export interface Shortcut {
  /** As on the keys of a keyboard: modifiers, then the key. */
  readonly keys: string
  readonly where: string
  readonly what: string
  /** A letter or a sign without a modifier that acts outside of fields only, and can be switched off. */
  readonly isSingle?: true
}

/** Every keyboard shortcut of the page. */
export const SHORTCUTS = {
  palette: { keys: 'Ctrl K', where: 'Anywhere', what: 'Go to a chat, a server, a tool or a page' },
  newChat: { keys: 'Ctrl Shift O', where: 'Anywhere', what: 'New chat' },
  escape: {
    keys: 'Esc',
    where: 'Anywhere',
    what: 'Close what is open; else stop the answer, on the second press',
  },
  shortcuts: { keys: '?', where: 'Anywhere', what: 'Keyboard shortcuts', isSingle: true },
  question: { keys: 'Alt A', where: 'Chat', what: 'Go to a question that waits' },
  nextTurn: { keys: 'J', where: 'Chat', what: 'Go to your next message', isSingle: true },
  previousTurn: { keys: 'K', where: 'Chat', what: 'Go to your previous message', isSingle: true },
  end: { keys: 'End', where: 'Messages', what: 'Go to the latest message' },
  send: { keys: 'Enter', where: 'Message', what: 'Send' },
  newLine: { keys: 'Shift Enter', where: 'Message', what: 'New line' },
  prompts: { keys: '/', where: 'Message', what: 'Prompts of MCP servers' },
  resources: { keys: '@', where: 'Message', what: 'Resources of MCP servers' },
  editLast: { keys: '↑', where: 'Empty message', what: 'Edit the last message' },
  previousCall: { keys: '←', where: 'Tool calls', what: 'Previous call of the row' },
  nextCall: { keys: '→', where: 'Tool calls', what: 'Next call of the row' },
  restart: { keys: 'R', where: 'Server', what: 'Restart the server, for admins', isSingle: true },
} as const satisfies Readonly<Record<string, Shortcut>>

/** `KeyboardEvent.key` of keys that have another sign. */
const NAMES: Readonly<Record<string, string>> = {
  '↑': 'ArrowUp',
  '←': 'ArrowLeft',
  '→': 'ArrowRight',
  Esc: 'Escape',
}

type Keys = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>

/** Whether the keys of a shortcut are pressed. The Command key counts as Ctrl. */
export function isPressed(event: Keys, { keys, isSingle }: Shortcut): boolean {
  const parts = keys.split(' ')
  const last = parts.at(-1) ?? ''
  const isCtrl = event.ctrlKey || event.metaKey
  // Browsers report a key also when they fill in a form; it has no modifiers and no name.
  if (isCtrl !== parts.includes('Ctrl') || event.altKey !== parts.includes('Alt')) return false
  // Shift is needed to type some of the signs.
  if (isSingle !== true && event.shiftKey !== parts.includes('Shift')) return false
  return event.key.toLowerCase() === (NAMES[last] ?? last).toLowerCase()
}
