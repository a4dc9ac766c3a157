import type { ReactNode } from 'react'
import { useEffect, useId, useRef, useState } from 'react'
import { focusQuestion } from '../parts/focus-question.ts'
import { shownSessions } from '../state/known-sessions.ts'
import { openDebug, openPage, openServers, openSession, route } from '../state/route.ts'
import { findSessions, sessionList } from '../state/session-list.ts'
import { SHORTCUTS } from '../state/shortcuts.ts'
import { useStore } from '../state/store.ts'
import { useRoles } from '../state/use-roles.ts'
import { useShortcut } from '../state/use-shortcut.ts'
import { pagesFor } from '../state/user-pages.ts'
import { beginChat } from './begin-chat.ts'
import { showShortcuts } from './shortcuts.tsx'
import type { Command } from './use-server-commands.ts'
import { useServerCommands } from './use-server-commands.ts'

const COMMANDS: readonly Command[] = [
  { id: 'new', name: 'New chat', run: beginChat },
  { id: 'servers', name: 'Tools and servers', run: openServers },
  { id: 'shortcuts', name: 'Keyboard shortcuts', run: showShortcuts },
]

const MAX_SHOWN = 12
/** The most chats that are shown where tools have the name as well. */
const MAX_CHATS = 5

/** Chats, pages, servers and tools by their names. Has the other shortcuts of the whole page, too. */
export function Palette(): ReactNode {
  const listId = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useStore(sessionList)
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState(0)
  const [isOpen, setIsOpen] = useState(false)
  useShortcut(SHORTCUTS.question, focusQuestion)
  useShortcut(SHORTCUTS.newChat, beginChat)
  useShortcut(SHORTCUTS.palette, () => {
    setSearch('')
    setChosen(0)
    setIsOpen(true)
    dialog.current?.showModal()
  })
  const words = search.trim().toLowerCase()
  useEffect(() => findSessions(words), [words])
  const chats = shownSessions(list, words).map(({ id, title }) => ({
    id,
    name: title,
    run: () => openSession(id),
  }))
  const here = useStore(route)
  const ofChat: readonly Command[] =
    here.page === 'chat' && !here.isNew
      ? [{ id: 'debug', name: 'Events of this chat', run: () => openDebug(here.session) }]
      : []
  const pages = pagesFor(useRoles()).map(({ page, name, about }) => {
    return { id: page, name, ...(about && { about }), run: () => openPage(page) }
  })
  const { ofServers, ofTools } = useServerCommands(isOpen)
  const matching = (commands: readonly Command[]): readonly Command[] =>
    commands.filter(({ name, about = '' }) => `${name} ${about}`.toLowerCase().includes(words))
  const named = matching([...COMMANDS, ...pages, ...ofChat, ...(words === '' ? [] : ofServers)])
  const tools = words === '' ? [] : matching(ofTools)
  const room = Math.max(MAX_CHATS, MAX_SHOWN - named.length - tools.length)
  const found = [...named, ...matching(chats).slice(0, room), ...tools].slice(0, MAX_SHOWN)
  const isListed = isOpen && found.length > 0
  const run = (command: Command | undefined): void => {
    dialog.current?.close()
    command?.run()
  }
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((chosen + step + found.length) % Math.max(1, found.length))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      run(found[chosen])
    }
  }
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Go to"
      // The event comes later: the palette may be open again.
      onClose={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <input
        role="combobox"
        aria-label="Go to"
        aria-autocomplete="list"
        aria-expanded={isListed}
        aria-controls={isListed ? listId : undefined}
        aria-activedescendant={isListed ? `${listId}-${chosen}` : undefined}
        placeholder="Go to a chat, a server, a tool or a page"
        value={search}
        onChange={({ target }) => {
          setSearch(target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      {isListed && (
        <ul role="listbox" id={listId} aria-label="Chats, pages, servers and tools">
          {found.map((command, index) => (
            <li
              key={command.id}
              className="option"
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === chosen}
              onClick={() => run(command)}
            >
              {command.name}
              {command.about !== undefined && <small className="cut">{command.about}</small>}
            </li>
          ))}
        </ul>
      )}
      {isOpen && !isListed && (
        <p role="status" className="note">
          Nothing has this name.
        </p>
      )}
    </dialog>
  )
}
