import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { ServerRequest } from '@mcp-host/upstream'
import { askModel } from './ask-model.ts'
import type { AskUserDeps } from './ask-user.ts'
import { askUser } from './ask-user.ts'
import type { RunningCall, RunningCalls } from '../tool-calls/running-calls.ts'

export interface AnswerServerRequestDeps extends AskUserDeps {
  readonly calls: RunningCalls
}

/**
 * Answers requests of a server during tool calls of a session, by the session's user or a model. It is the callback of
 * a host whose server is dedicated to this session. The server gets its errors.
 */
export async function answerServerRequest(
  deps: AnswerServerRequestDeps,
  asked: {
    readonly session: SessionId
    readonly server: string
    readonly request: ServerRequest
  },
): Promise<unknown> {
  const { request } = asked
  switch (request.kind) {
    case 'elicitation':
      return forCall(deps, asked, (call) => askUser(deps, call, request))
    case 'sampling':
      return forCall(deps, asked, (call) => askModel(deps, call, request))
    case 'roots':
      // The host answers with configured roots; a session has none.
      return { roots: [] }
    case 'log':
      return undefined
    default:
      return request satisfies never
  }
}

async function forCall<T>(
  { calls }: AnswerServerRequestDeps,
  { session, server, request }: Parameters<typeof answerServerRequest>[1],
  answer: (call: RunningCall) => Promise<T>,
): Promise<T> {
  const cause = calls.find(session, server, request.call?.requestId)
  if (cause === undefined) {
    const message = `${request.kind} is answered only while a tool call is under way`
    throw new BusError('invalid', message)
  }
  using _place = calls.answering(session)
  return await answer(cause)
}
