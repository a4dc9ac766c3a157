import type { Up } from '@mcp-host/contracts'
import type { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'
import { acceptMessage, regenerate } from './accept-message.ts'
import { answerPing } from './answer-ping.ts'
import { cancelTurn } from './cancel-turn.ts'
import { takeAnswer } from './take-answer.ts'

type Handler<T extends Up['type']> = (
  deps: SocketDeps,
  connection: Connection,
  frame: Extract<Up, { type: T }>,
) => Promise<void> | void

/** The handler of each client frame. */
export const handlers: { readonly [T in Up['type']]: Handler<T> } = {
  message: acceptMessage,
  regenerate,
  cancel: cancelTurn,
  answer: takeAnswer,
  ping: answerPing,
}
