import type { ReactNode } from 'react'
import { isPressed, SHORTCUTS } from '../state/shortcuts.ts'
import type { Item } from '../state/turn.ts'
import type { ItemViewProps } from './item-view.tsx'
import { ItemView } from './item-view.tsx'

export interface ItemListProps extends Pick<ItemViewProps, 'sessionId' | 'session' | 'onApps'> {
  readonly items: readonly Item[]
  /** Whether more of the last item follows. */
  readonly isOpen?: boolean
  /** The open questions, by the tool calls that wait for them. */
  readonly waiting?: ReadonlyMap<string, ItemViewProps['waitsFor']>
}

/** The things of an answer, in chats, shared chats and replays. Calls that follow each other are one row. */
export function ItemList({ items, isOpen = false, waiting, ...common }: ItemListProps): ReactNode {
  const view = (item: Item, row?: string): ReactNode => (
    <ItemView
      key={item.id}
      item={item}
      isOpen={isOpen && item === items.at(-1)}
      waitsFor={waiting?.get(item.id)}
      row={row}
      {...common}
    />
  )
  return rowsOf(items).map(([first, ...more]) =>
    first.kind === 'tool' ? (
      <div
        key={`row ${first.id}`}
        className="calls"
        role="group"
        aria-label="Tool calls"
        onKeyDown={walk}
      >
        {[first, ...more].map((item) => view(item, first.id))}
      </div>
    ) : (
      view(first)
    ),
  )
}

/** Moves the focus from a chip to the one before or after it. */
function walk(event: React.KeyboardEvent): void {
  const isBack = isPressed(event.nativeEvent, SHORTCUTS.previousCall)
  if (!isBack && !isPressed(event.nativeEvent, SHORTCUTS.nextCall)) return
  const chips = Array.from(
    event.currentTarget.querySelectorAll<HTMLElement>('details.tool > summary'),
  )
  const from = chips.findIndex((chip) => chip === event.target)
  if (from === -1) return
  event.preventDefault()
  chips[from + (isBack ? -1 : 1)]?.focus()
}

/** The items, of which tool calls that follow each other stand together. */
function rowsOf(items: readonly Item[]): (readonly [Item, ...Item[]])[] {
  const rows: [Item, ...Item[]][] = []
  for (const item of items) {
    const last = rows.at(-1)
    if (item.kind === 'tool' && last?.[0].kind === 'tool') last.push(item)
    else rows.push([item])
  }
  return rows
}
