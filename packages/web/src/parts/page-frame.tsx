import type { ReactNode } from 'react'
import { login } from '../state/login.ts'
import type { PageName } from '../state/route.ts'
import { useStore } from '../state/store.ts'

/** The pages around the chats. `role`: what a user needs to see it; absent: nothing. */
const TABS: readonly {
  readonly page: PageName
  readonly name: string
  readonly role?: 'admin'
}[] = [
  { page: 'account', name: 'Account' },
  { page: 'approvals', name: 'Approvals' },
  { page: 'audit', name: 'Audit' },
  { page: 'users', name: 'Users', role: 'admin' },
  { page: 'policy', name: 'Policy', role: 'admin' },
  { page: 'limits', name: 'Limits', role: 'admin' },
]

export interface PageFrameProps {
  readonly page: PageName
  readonly title: string
  readonly children: ReactNode
}

/** A page around the chats, with the ways to the others. Users without its role are told what it needs. */
export function PageFrame({ page, title, children }: PageFrameProps): ReactNode {
  const known = useStore(login)
  if (known.state === 'unknown' || known.state === 'missing') {
    return <div className="empty" aria-busy="true" />
  }
  const { roles } = known.principal
  const mayShow = (role: 'admin' | undefined): boolean => role === undefined || roles.includes(role)
  const role = TABS.find((tab) => tab.page === page)?.role
  return (
    <div className="settings">
      <nav className="tabs" aria-label="Account and administration">
        {TABS.filter((tab) => mayShow(tab.role)).map((tab) => (
          <a
            key={tab.page}
            href={`#/${tab.page}`}
            aria-current={tab.page === page ? 'page' : undefined}
          >
            {tab.name}
          </a>
        ))}
      </nav>
      <h2>{title}</h2>
      {mayShow(role) ? (
        children
      ) : (
        <p className="note warn">
          This page needs the role {role}. You have {roles.join(', ') || 'no role'}. Ask an admin of
          this host to give it to you.
        </p>
      )}
    </div>
  )
}
