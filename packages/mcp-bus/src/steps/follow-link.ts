import { aborted } from '@mcp-host/async'

/** A page that the user of a call has to open. */
export interface UserLink {
  readonly url: string
  /** Why, in words for the user. */
  readonly message: string
}

/**
 * Shows a link to the user of a call. `done` resolves when the user has done there what is asked. Resolves with whether
 * that is so.
 */
export type ShowLink = (link: UserLink, done: Promise<void>) => Promise<boolean>

/** Ends a request by questions to its caller, which repeats the request with the answers (2026-07-28). */
export class InputNeeded extends Error {
  readonly inputRequests: object

  constructor(inputRequests: object) {
    super('the caller is asked first')
    this.inputRequests = inputRequests
  }
}

interface FollowOptions {
  /** Aborts when the call is over. */
  readonly signal: AbortSignal
  /** The time after the user's answer in which it must be done, in milliseconds. */
  readonly limitMs: number
}

/**
 * Asks a user to open a page, and waits until `done` resolves. `ask` resolves with `accept` when the user opens the page;
 * its signal withdraws the question.
 */
export async function followLink(
  ask: (signal: AbortSignal) => Promise<string>,
  done: Promise<void>,
  { signal, limitMs }: FollowOptions,
): Promise<boolean> {
  const over = new AbortController()
  const end = AbortSignal.any([signal, over.signal])
  const isDone = done.then(() => true)
  const isEnded = aborted(end).then(() => false)
  const answer = ask(end).catch(() => 'cancel')
  const isRefused = answer.then((action) => action !== 'accept')
  let late: NodeJS.Timeout | undefined
  try {
    const first = await Promise.race([isDone, isEnded, isRefused.then(() => undefined)])
    if (first !== undefined) return first
    if (await isRefused) return false
    const isLate = new Promise<false>((resolve) => (late = setTimeout(resolve, limitMs, false)))
    return await Promise.race([isDone, isEnded, isLate])
  } finally {
    clearTimeout(late)
    over.abort()
  }
}
