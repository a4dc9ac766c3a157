import { focusMessage } from '../parts/focus-message.ts'
import { openNewChat } from '../state/route.ts'

/** Shows an empty chat, and takes its message from the keyboard at once, also where it was shown before. */
export function beginChat(): void {
  openNewChat()
  focusMessage()
}
