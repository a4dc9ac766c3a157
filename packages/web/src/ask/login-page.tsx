import type { ReactNode } from 'react'
import { CopyButton } from '../markdown/copy-button.tsx'
import { HOST_URL } from '../state/host.ts'
import type { QuestionItem } from '../state/turn.ts'

/** Whether a question is that of this host for a login at the server, and not one of a server for a page of its own. */
export function isLogin({ mode, server, url }: QuestionItem['question']): boolean {
  const { origin, pathname } = (mode === 'url' ? URL.parse(url ?? '') : null) ?? {}
  return origin === HOST_URL && pathname === `/connect/${encodeURIComponent(server)}`
}

/** The way to the page of this host at which the login begins, here or on another device. */
export function LoginPage({ link }: { readonly link: string }): ReactNode {
  return (
    <p className="actions">
      <a className="button move" href={link} target="_blank" rel="noreferrer">
        Open the login page
      </a>
      <CopyButton text={link} label="Copy the link" />
    </p>
  )
}
