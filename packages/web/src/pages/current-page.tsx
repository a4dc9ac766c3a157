import type { ReactNode } from 'react'
import { lazy, Suspense } from 'react'
import type { OwnRoute } from '../state/route.ts'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { ChatPage } from './chat-page.tsx'

// Pages beside the chats are loaded when they are first shown.
const ServersPage = lazy(async () => ({
  default: (await import('./servers-page.tsx')).ServersPage,
}))
const AccountPage = lazy(async () => ({
  default: (await import('./account/account-page.tsx')).AccountPage,
}))
const ApprovalsPage = lazy(async () => ({
  default: (await import('./admin/approvals-page.tsx')).ApprovalsPage,
}))
const AuditPage = lazy(async () => ({
  default: (await import('./admin/audit-page.tsx')).AuditPage,
}))
const UsersPage = lazy(async () => ({
  default: (await import('./admin/users-page.tsx')).UsersPage,
}))
const PolicyPage = lazy(async () => ({
  default: (await import('./admin/policy-page.tsx')).PolicyPage,
}))
const LimitsPage = lazy(async () => ({
  default: (await import('./admin/limits-page.tsx')).LimitsPage,
}))
const DebugPage = lazy(async () => ({
  default: (await import('./debug/debug-page.tsx')).DebugPage,
}))

/** The page of a user at the address. */
export function CurrentPage({ here }: { readonly here: OwnRoute }): ReactNode {
  return (
    <ErrorBoundary key={here.page} what="This page">
      <Suspense fallback={<div className="empty" aria-busy="true" />}>{pageOf(here)}</Suspense>
    </ErrorBoundary>
  )
}

function pageOf(here: OwnRoute): ReactNode {
  switch (here.page) {
    case 'chat':
      return <ChatPage key={here.insteadOf ?? here.session} id={here.session} isNew={here.isNew} />
    case 'servers':
      return <ServersPage server={here.server} tool={here.tool} />
    case 'account':
      return <AccountPage />
    case 'approvals':
      return <ApprovalsPage />
    case 'audit':
      return <AuditPage />
    case 'users':
      return <UsersPage />
    case 'policy':
      return <PolicyPage />
    case 'limits':
      return <LimitsPage />
    case 'debug':
      return <DebugPage key={here.session} session={here.session} />
    default:
      return here satisfies never
  }
}
