import type { ReactNode } from 'react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { CurrentPage } from './pages/current-page.tsx'
import { LogInAgain } from './pages/log-in-again.tsx'
import { Palette } from './pages/palette.tsx'
import { Sidebar } from './pages/sidebar.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { ErrorBoundary } from './parts/error-boundary.tsx'
import { loadLogin, login } from './state/login.ts'
import { loadModels } from './state/models.ts'
import { sendLeftMessages } from './state/open-chats.ts'
import type { OwnRoute } from './state/route.ts'
import { route } from './state/route.ts'
import { useStore } from './state/store.ts'

const SharedPage = lazy(async () => ({
  default: (await import('./pages/shared-page.tsx')).SharedPage,
}))

/** The page. A share link needs no login. */
export function App(): ReactNode {
  const here = useStore(route)
  if (here.page !== 'shared') return <OwnPage here={here} />
  return (
    <ErrorBoundary what="This page">
      <Suspense>
        <SharedPage key={here.token} token={here.token} />
      </Suspense>
    </ErrorBoundary>
  )
}

/** The page of a user: chats at the left, one of them or another page beside them. */
function OwnPage({ here }: { readonly here: OwnRoute }): ReactNode {
  const known = useStore(login)
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  useEffect(() => {
    void loadModels()
    void loadLogin()
    sendLeftMessages()
  }, [])
  if (known.state === 'missing')
    return <SignIn why={`Log in to chat with this host. It says: ${known.why}`} />
  return (
    <div className="app" data-menu={isMenuOpen}>
      <header className="top">
        <button
          type="button"
          className="menu-button"
          aria-expanded={isMenuOpen}
          onClick={() => setIsMenuOpen(!isMenuOpen)}
        >
          Chats
        </button>
        <h1>mcp-host</h1>
      </header>
      <ErrorBoundary what="The list of chats">
        <Sidebar onLeave={() => setIsMenuOpen(false)} />
      </ErrorBoundary>
      <main className="page">
        <LogInAgain />
        <CurrentPage here={here} />
      </main>
      <Palette />
    </div>
  )
}
