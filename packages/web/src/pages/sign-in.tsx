import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { goToLogin, keepPlace, LOGIN_URL } from '../state/login-page.ts'

/** For users that the host does not know: it leads to the login page, or says what else can be done. */
export function SignIn({ why }: { readonly why: string }): ReactNode {
  const [isLeaving, setIsLeaving] = useState(true)
  useEffect(() => void goToLogin().then(setIsLeaving), [])
  if (isLeaving) return <main className="empty" aria-busy="true" />
  return (
    <main className="empty">
      <span className="dial" />
      <h1>mcp-host</h1>
      <p className="note">{why}</p>
      <a className="button move" href={LOGIN_URL} onClick={keepPlace}>
        Log in
      </a>
      <p className="note">
        A host that takes only keys has no login page. Use npm run chat with the key there.
      </p>
    </main>
  )
}
