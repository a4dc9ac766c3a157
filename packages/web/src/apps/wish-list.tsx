import { visibleText } from '@mcp-host/client'
import type { MouseEvent, ReactNode } from 'react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { focusAround } from '../parts/focus-around.ts'
import { Mark } from '../parts/icon.tsx'
import { pretty } from '../state/pretty.ts'
import type { Wish } from './app-actions.ts'

/** A wish that waits for the user. */
export interface OpenWish {
  readonly id: number
  readonly wish: Wish
  readonly answer: (isGranted: boolean) => void
}

/** A wish cannot be granted so soon after it appears: the app may have made the user click there. */
const UNREAD_MS = 700

/** The wishes of an app, in their order. `ask`: resolves when the user has answered; `false` when the app ends before. */
export function useWishes(): {
  readonly wishes: readonly OpenWish[]
  readonly ask: (wish: Wish) => Promise<boolean>
  /** Refuses what the user has not answered. */
  readonly refuseAll: () => void
} {
  const [wishes, setWishes] = useState<readonly OpenWish[]>([])
  const open = useRef(new Set<(isGranted: boolean) => void>())
  const count = useRef(0)
  const ask = useCallback(async (wish: Wish): Promise<boolean> => {
    const { promise, resolve: answer } = Promise.withResolvers<boolean>()
    open.current.add(answer)
    // A number is used once, so that each wish gets a form of its own.
    const id = ++count.current
    setWishes((before) => [...before, { id, wish, answer }])
    const isGranted = await promise
    open.current.delete(answer)
    setWishes((before) => before.filter((each) => each.answer !== answer))
    return isGranted
  }, [])
  const refuseAll = useCallback(() => {
    for (const answer of open.current) answer(false)
  }, [])
  useEffect(() => refuseAll, [refuseAll])
  return { wishes, ask, refuseAll }
}

const WORDS = {
  call: { title: 'wants to call a tool', yes: 'Allow', no: 'Do not allow' },
  message: { title: 'has a text for your message', yes: 'Put it in', no: 'Leave it out' },
  link: { title: 'wants to open a page', yes: 'Open it in a new tab', no: 'Do not open it' },
} as const

/** The first wish of an app. Nothing of it happens before the user agrees. */
export function WishList({
  wishes,
  server,
}: {
  readonly wishes: readonly OpenWish[]
  readonly server: string
}): ReactNode {
  const [first] = wishes
  return first === undefined ? null : <WishForm key={first.id} {...first} server={server} />
}

function WishForm({ wish, answer, server }: OpenWish & { readonly server: string }): ReactNode {
  const { title, yes, no } = WORDS[wish.kind]
  const isRead = useIsRead()
  const answerBy =
    (isGranted: boolean) =>
    ({ currentTarget }: MouseEvent): void => {
      focusAround(currentTarget, 'section')
      answer(isGranted)
    }
  return (
    <div className="asks" role="group" aria-label={`Wish of the app of ${server}`}>
      <header className="asks-head">
        <Mark name="waits" />
        <h3>{`The app of ${server} ${title}`}</h3>
      </header>
      <pre tabIndex={0}>{visibleText(textOf(wish))}</pre>
      <div className="asks-foot">
        {wish.kind === 'link' && isRead ? (
          <a
            className="button"
            href={wish.url}
            target="_blank"
            rel="noopener noreferrer"
            onClick={answerBy(true)}
          >
            {yes}
          </a>
        ) : (
          <button type="button" className="move" disabled={!isRead} onClick={answerBy(true)}>
            {yes}
          </button>
        )}
        <button type="button" onClick={answerBy(false)}>
          {no}
        </button>
      </div>
    </div>
  )
}

/** False at first, so that a click that was meant for something else grants nothing. */
function useIsRead(): boolean {
  const [isRead, setIsRead] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsRead(true), UNREAD_MS)
    return () => clearTimeout(timer)
  }, [])
  return isRead
}

function textOf(wish: Wish): string {
  switch (wish.kind) {
    case 'call':
      return `${wish.tool}\n${pretty(wish.arguments)}`
    case 'message':
      return wish.text
    case 'link':
      return wish.url
    default:
      return wish satisfies never
  }
}
