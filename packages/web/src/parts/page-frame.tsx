import type { ReactNode } from 'react'
import { login } from '../state/login.ts'
import { useStore } from '../state/store.ts'
import type { PageName } from '../state/user-pages.ts'
import { pagesFor, roleFor } from '../state/user-pages.ts'
import { PageBar } from './page-bar.tsx'

export interface PageFrameProps {
  readonly page: PageName
  readonly title: string
  readonly children: ReactNode
}

/** A page around the chats. Users without its role are told what it needs. */
export function PageFrame({ page, title, children }: PageFrameProps): ReactNode {
  const known = useStore(login)
  if (known.state === 'unknown' || known.state === 'missing') {
    return <div className="empty" aria-busy="true" />
  }
  const { roles } = known.principal
  const mayShow = pagesFor(roles).some((each) => each.page === page)
  return (
    <>
      <PageBar title={title} />
      <div className="sheet-page">
        {mayShow ? (
          children
        ) : (
          <p className="note">
            This page needs the role {roleFor(page)}. You have {roles.join(', ') || 'no role'}. Ask
            an admin of this host to give it to you.
          </p>
        )}
      </div>
    </>
  )
}
