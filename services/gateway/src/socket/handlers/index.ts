import type { Up } from '@mcp-host/contracts'
import type { FrameOutcome } from '../../connection/frame-outcome.ts'
import type { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'
import { acceptMessage } from './accept-message.ts'
import { answerPing } from './answer-ping.ts'
import { cancelCall } from './cancel-call.ts'
import { cancelTurn } from './cancel-turn.ts'
import { takeAnswer } from './take-answer.ts'

type Handler<T extends Up['type']> = (
  deps: SocketDeps,
  connection: Connection,
  frame: Extract<Up, { type: T }>,
) => Promise<FrameOutcome> | FrameOutcome

/** The handler of each client frame. It answers the client itself. */
export const handlers: { readonly [T in Up['type']]: Handler<T> } = {
  message: acceptMessage,
  regenerate: acceptMessage,
  cancel: cancelTurn,
  'cancel-call': cancelCall,
  answer: takeAnswer,
  ping: answerPing,
}
