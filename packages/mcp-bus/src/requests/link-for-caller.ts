import { isObject } from '@mcp-host/json'
import { MetaKey } from '@mcp-host/mcp'
import { followLink, InputNeeded, type ShowLink, type UserLink } from '../steps/follow-link.ts'
import { canBeAsked } from './client-questions.ts'
import type { Json } from './eras.ts'

const METHOD = 'elicitation/create'
/** The key of the question and its answer in requests of 2026-07-28. */
const KEY = 'mcp-host-link'
/** The time limit for a login after its page was opened. Then the call ends; a client of 2026-07-28 is asked again. */
const LIMIT_MS = { legacy: 600_000, modern: 45_000 }

export type AskCaller = (
  method: string,
  params: unknown,
  withdrawn?: AbortSignal,
) => Promise<unknown>

/** Shows links to a client that is asked during its request. */
export function askingLink(ask: AskCaller, cancelled: AbortSignal): ShowLink {
  return (link, done) => {
    const askFor = async (withdrawn: AbortSignal): Promise<string> =>
      actionIn(await ask(METHOD, questionOf(link), withdrawn)) ?? 'cancel'
    return followLink(askFor, done, { signal: cancelled, limitMs: LIMIT_MS.legacy })
  }
}

/** Shows links to a client of 2026-07-28. Throws `InputNeeded` before it is asked. */
export function repeatedLink(params: Json, cancelled: AbortSignal): ShowLink {
  return async (link, done) => {
    const question = questionOf(link)
    const meta = isObject(params['_meta']) ? params['_meta'] : {}
    const capabilities = meta[MetaKey.clientCapabilities]
    if (!isObject(capabilities) || !canBeAsked(capabilities, METHOD, question)) return false
    const { inputResponses } = params
    const action = isObject(inputResponses) ? actionIn(inputResponses[KEY]) : undefined
    const again = new InputNeeded({ [KEY]: { method: METHOD, params: question } })
    if (action === undefined) throw again
    if (action !== 'accept') return false
    const options = { signal: cancelled, limitMs: LIMIT_MS.modern }
    if (await followLink(async () => action, done, options)) return true
    throw again
  }
}

/** The parameters of a request without the answers to such questions, of which its server knows nothing. */
export function withoutLinkAnswer(params: Json): Json {
  const given = params['inputResponses']
  if (!isObject(given) || !Object.hasOwn(given, KEY)) return params
  const { inputResponses: _, ...rest } = params
  const { [KEY]: __, ...others } = given
  return Object.keys(others).length === 0 ? rest : { ...rest, inputResponses: others }
}

function questionOf(link: UserLink): object {
  return { mode: 'url', elicitationId: crypto.randomUUID(), ...link }
}

function actionIn(answer: unknown): string | undefined {
  return isObject(answer) && typeof answer['action'] === 'string' ? answer['action'] : undefined
}
