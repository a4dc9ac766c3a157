import { setTimeout as delay } from 'node:timers/promises'
import { HostApi } from '@mcp-host/client'
import { eventually } from '@mcp-host/testkit'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from '../test/browser.ts'
import type { Violation } from './check/violation.ts'
import type { ChaosSession } from './session.ts'

const JOIN_MS = 60_000
const SETTLE_MS = 30_000
/** Time for the page to draw the turns that scrolling has brought into view. */
const DRAWN_MS = 60

/** Message, answer and outcomes of the calls of each turn by the id of its message, as one line of words. */
type Texts = ReadonlyMap<string, string>

interface OpenPage {
  readonly session: ChaosSession
  readonly url: string
  readonly page: Page
}

/** Pages of the web UI that follow a session each, in one browser. */
export class OpenPages implements AsyncDisposable {
  readonly #browser: Browser
  readonly #pages: Promise<OpenPage>[]

  private constructor(browser: Browser, pages: Promise<OpenPage>[]) {
    this.#browser = browser
    this.#pages = pages
  }

  /** Opens one page for each session as soon as it has begun. */
  static async open(
    sessions: readonly ChaosSession[],
    urls: readonly string[],
  ): Promise<OpenPages> {
    const browser = await startBrowser()
    const pages = sessions.map((session, index) =>
      openPage(browser, session, urls[index % urls.length] ?? ''),
    )
    // A page that cannot be opened is a violation at the end.
    for (const page of pages) page.catch(() => undefined)
    return new OpenPages(browser, pages)
  }

  /** The differences between the pages and the stored histories, once all turns have ended. */
  async check(): Promise<Violation[]> {
    const outcomes = await Promise.allSettled(this.#pages)
    const violations: Violation[] = []
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') violations.push(...(await checkPage(outcome.value)))
      else violations.push(differs('a page', `it could not be opened: ${String(outcome.reason)}`))
    }
    return violations
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#browser.close()
  }
}

async function openPage(browser: Browser, session: ChaosSession, url: string): Promise<OpenPage> {
  await eventually(() => session.client.start !== undefined, { limitMs: JOIN_MS })
  const page = await browser.newPage()
  const address = `${url}/#/chat/${session.client.start?.sessionId}`
  // The gateway of the page may be down.
  await eventually(() => page.goto(address).then(Boolean, () => false), { limitMs: JOIN_MS })
  return { session, url, page }
}

async function checkPage({ session, url, page }: OpenPage): Promise<Violation[]> {
  const stored = await readHistory(url, session.client.start?.sessionId ?? '')
  let found: Violation[] = []
  const isSame = async (): Promise<boolean> => {
    found = compare(session.name, stored, await readPage(page))
    return found.length === 0
  }
  await eventually(isSame, { limitMs: SETTLE_MS }).catch(() => undefined)
  return found
}

/** The differences between a page and the stored history of its session. */
export function compare(where: string, stored: Texts, shown: Texts): Violation[] {
  const order = (texts: Texts): string => [...texts.keys()].join(' ')
  if (order(stored) !== order(shown)) {
    return [differs(where, `messages: "${order(shown)}" in place of "${order(stored)}"`)]
  }
  return [...stored].flatMap(([message, text]) => {
    const other = shown.get(message)
    return other === text ? [] : [differs(where, `"${other}" in place of "${text}"`, message)]
  })
}

function differs(where: string, detail: string, message?: string): Violation {
  return { rule: 'page differs from the history', where, detail, message }
}

async function readHistory(url: string, session: string): Promise<Texts> {
  const host = new HostApi({ url })
  const texts = new Map<string, string>()
  for (let before: string | undefined, isFirst = true; isFirst || before !== undefined;) {
    const page = await host.messages(session, before === undefined ? {} : { before })
    const older = new Map<string, string>()
    for (const { role, content = '', data, metadata } of page.messages) {
      const parts = {
        user: content,
        assistant: content,
        tool: data?.outcome ?? 'unknown',
        system: '',
      }
      older.set(metadata.messageId, `${older.get(metadata.messageId) ?? ''} ${parts[role]}`)
    }
    const newer = [...texts]
    texts.clear()
    for (const [id, text] of [...older, ...newer]) texts.set(id, words(text))
    before = page.next
    isFirst = false
  }
  return texts
}

/** The turns of the page from top to bottom. Only those in view are in the page, so it is scrolled. */
async function readPage(page: Page): Promise<Texts> {
  const texts = new Map<string, string>()
  await page.evaluate("document.querySelector('.turns').scrollTop = 0")
  for (let isAtEnd = false; !isAtEnd;) {
    await delay(DRAWN_MS)
    const turns = await page.evaluate<[string, string][]>(
      `Array.from(document.querySelectorAll('.turn'), (turn) => [
        turn.dataset.message,
        Array.from(
          turn.querySelectorAll('.bubble, .answer .markdown, .answer .tool'),
          (each) => each.dataset.outcome ?? each.innerText
        ).join(' '),
      ])`,
    )
    for (const [id, text] of turns) texts.set(id, words(text))
    isAtEnd = await page.evaluate<boolean>(
      `(() => {
        const list = document.querySelector('.turns')
        const before = list.scrollTop
        list.scrollTop += list.clientHeight / 2
        return list.scrollTop === before
      })()`,
    )
  }
  return texts
}

function words(text: string): string {
  return text.trim().split(/\s+/).join(' ')
}
