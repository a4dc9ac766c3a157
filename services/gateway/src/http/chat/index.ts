import type { Api } from '../../edge/api.ts'
import { addAbortCall } from './abort-call.ts'
import { addAbortTurn } from './abort-turn.ts'
import { addAnswerQuestion } from './answer-question.ts'
import type { ChatDeps } from './chat-deps.ts'
import { addFollowEvents } from './follow-events.ts'
import { addRegenerate } from './regenerate.ts'
import { addSendMessage } from './send-message.ts'

/** Routes for messages, the live text of answers, cancels and answers to questions. */
export function addChatRoutes(api: Api, deps: ChatDeps): void {
  addSendMessage(api, deps)
  addRegenerate(api, deps)
  addFollowEvents(api, deps)
  addAbortTurn(api, deps)
  addAbortCall(api, deps)
  addAnswerQuestion(api, deps)
}
