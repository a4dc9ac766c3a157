import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { IconButton, Mark } from '../../parts/icon.tsx'
import { SIDEBAR } from '../../parts/page-bar.tsx'
import { followHost, servers } from '../../state/host-state.ts'
import { login } from '../../state/login.ts'
import type { OwnRoute } from '../../state/route.ts'
import { useStore } from '../../state/store.ts'
import { switchTheme } from '../../state/theme.ts'
import { useRoles } from '../../state/use-roles.ts'
import { pagesFor } from '../../state/user-pages.ts'
import { ChatList } from './chat-list.tsx'
import { ServerList } from './server-list.tsx'

/** The ways to all pages, and the list of what the shown one has: chats, servers or further pages. */
export function Sidebar({ here }: { readonly here: OwnRoute }): ReactNode {
  const side = useRef<HTMLElement>(null)
  useEffect(followHost, [])
  return (
    <aside
      ref={side}
      className="side"
      id={SIDEBAR}
      popover="auto"
      aria-label="Pages and lists"
      // On a phone it is before the page.
      onClick={({ target }) => isLink(target) && side.current?.hidePopover()}
    >
      <div className="brand">
        <span className="dial" />
        mcp-host
        <span className="end" />
        <IconButton icon="theme" label="Light or dark" onClick={switchTheme} />
      </div>
      <Modes here={here} />
      {here.page === 'servers' ? (
        <ServerList chosen={here.server} />
      ) : here.page === 'chat' || here.page === 'debug' ? (
        <ChatList />
      ) : (
        <PageList here={here} />
      )}
      <Foot />
    </aside>
  )
}

function isLink(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, [data-leave]') !== null
}

function Modes({ here: { page, ...rest } }: { readonly here: OwnRoute }): ReactNode {
  /** Leads back to the chat that was shown last. */
  const chat = useRef('#/')
  const isChat = page === 'chat' || page === 'debug'
  if (isChat && 'session' in rest) {
    chat.current = 'isNew' in rest && rest.isNew ? '#/' : `#/chat/${rest.session}`
  }
  const isAdmin = useRoles().includes('admin')
  const link = (href: string, name: string, isHere: boolean): ReactNode => (
    <a href={href} aria-current={isHere ? 'page' : undefined}>
      {name}
    </a>
  )
  return (
    <nav className="modes" aria-label="Pages">
      {link(chat.current, 'Chat', isChat)}
      {link('#/servers', 'Servers', page === 'servers')}
      {link('#/account', isAdmin ? 'Admin' : 'Account', !isChat && page !== 'servers')}
    </nav>
  )
}

/** The pages of users and admins. */
function PageList({ here }: { readonly here: OwnRoute }): ReactNode {
  const roles = useRoles()
  return (
    <nav className="side-list" aria-label="Account and administration">
      {pagesFor(roles).map(({ page, name }) => (
        <a
          key={page}
          className="entry"
          href={`#/${page}`}
          aria-current={here.page === page ? 'page' : undefined}
        >
          <span className="name">{name}</span>
        </a>
      ))}
    </nav>
  )
}

function Foot(): ReactNode {
  const all = useStore(servers) ?? []
  const known = useStore(login)
  const ready = all.filter(({ state }) => state === 'ready').length
  const isWhole = ready === all.length
  return (
    <footer className="side-foot">
      {all.length > 0 && (
        <>
          <Mark name={isWhole ? 'ready' : 'half'} />
          <a href="#/servers">
            {isWhole ? ready : `${ready} of ${all.length}`}{' '}
            {all.length === 1 ? 'server' : 'servers'} ready
          </a>
        </>
      )}
      <span className="end cut">
        {'principal' in known && (known.principal.method === 'none' ? 'local' : known.principal.id)}
      </span>
    </footer>
  )
}
