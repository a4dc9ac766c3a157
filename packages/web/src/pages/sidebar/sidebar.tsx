import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { IconButton, Mark } from '../../parts/icon.tsx'
import { followHost, servers } from '../../state/host-state.ts'
import { followClock } from '../../state/now.ts'
import { login } from '../../state/login.ts'
import type { OwnRoute } from '../../state/route.ts'
import { chatAddress } from '../../state/route.ts'
import { useStore } from '../../state/store.ts'
import { switchTheme, theme } from '../../state/theme.ts'
import { useRoles } from '../../state/use-roles.ts'
import { pagesFor } from '../../state/user-pages.ts'
import { waitingCalls } from '../../state/waiting-calls.ts'
import { ChatList } from './chat-list.tsx'
import { ServerList } from './server-list.tsx'
import { WaitingBadge } from './waiting-badge.tsx'

/** Id of the sidebar, which a phone shows on demand. */
export const SIDEBAR = 'side'

/** Links to all pages, and the list of the shown one: chats, servers or further pages. */
export function Sidebar({ here }: { readonly here: OwnRoute }): ReactNode {
  const side = useRef<HTMLElement>(null)
  const chosen = useStore(theme)
  useEffect(followHost, [])
  useEffect(followClock, [])
  useEffect(() => {
    // A phone that is turned may have room for both.
    const hide = (): void => side.current?.hidePopover()
    const narrow = matchMedia('(width < 761px)')
    narrow.addEventListener('change', hide)
    return () => narrow.removeEventListener('change', hide)
  }, [])
  return (
    <aside
      ref={side}
      className="side"
      id={SIDEBAR}
      popover="auto"
      aria-label="Pages and lists"
      // On a phone the sidebar covers the page.
      onClick={({ target }) => isLink(target) && side.current?.hidePopover()}
    >
      <div className="brand">
        <span className="dial" />
        mcp-host
        <span className="end" />
        <IconButton icon="theme" label={`Theme: ${chosen}`} onClick={switchTheme} />
      </div>
      <PageLinks here={here} />
      {here.page === 'servers' ? (
        <ServerList chosen={here.server} />
      ) : here.page === 'chat' || here.page === 'debug' ? (
        <ChatList />
      ) : (
        <PageList here={here} />
      )}
      <SidebarFooter />
    </aside>
  )
}

function isLink(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, [data-closes-sidebar]') !== null
}

function PageLinks({ here }: { readonly here: OwnRoute }): ReactNode {
  const chat = useStore(chatAddress)
  const isAdmin = useRoles().includes('admin')
  const isChat = here.page === 'chat' || here.page === 'debug'
  const waiting = useStore(waitingCalls)
  const link = (href: string, name: string, isHere: boolean, badge?: ReactNode): ReactNode => (
    <a href={href} aria-current={isHere ? 'page' : undefined}>
      {name}
      {badge}
    </a>
  )
  return (
    <nav className="modes" aria-label="Pages">
      {link(chat, 'Chat', isChat)}
      {link('#/servers', 'Servers', here.page === 'servers')}
      {link(
        waiting > 0 ? '#/approvals' : '#/account',
        isAdmin ? 'Admin' : 'Account',
        !isChat && here.page !== 'servers',
        <WaitingBadge />,
      )}
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
          {page === 'approvals' && <WaitingBadge />}
        </a>
      ))}
    </nav>
  )
}

function SidebarFooter(): ReactNode {
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
