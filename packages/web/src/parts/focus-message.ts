import { hasTouchKeyboard } from './has-touch-keyboard.ts'

/** Gives the focus to the message, unless that opens the keyboard of a phone. */
export function focusMessage(): void {
  if (!hasTouchKeyboard()) document.querySelector<HTMLElement>('.composer textarea')?.focus()
}

/** The same where a chat is opened, unless the user writes elsewhere. */
export function focusOpened(): void {
  if (document.activeElement?.matches('body, main, button, a, summary') !== false) focusMessage()
}
