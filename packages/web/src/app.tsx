import type { ReactNode } from 'react'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { CurrentPage } from './pages/current-page.tsx'
import { LogInAgain } from './pages/log-in-again.tsx'
import { Palette } from './pages/palette.tsx'
import { Shortcuts } from './pages/shortcuts.tsx'
import { SidebarButton } from './pages/sidebar/sidebar-button.tsx'
import { Sidebar } from './pages/sidebar/sidebar.tsx'
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

/** The page of a user: a list at the left, and the chosen thing beside it. */
function OwnPage({ here }: { readonly here: OwnRoute }): ReactNode {
  const known = useStore(login)
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    void loadModels()
    void loadLogin()
    sendLeftMessages()
  }, [])
  if (known.state === 'missing')
    return <SignIn why={`Log in to chat with this host. It says: ${known.why}`} />
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <ErrorBoundary what="The list">
        <Sidebar here={here} />
      </ErrorBoundary>
      <main ref={main} className="main" tabIndex={-1}>
        <SidebarButton />
        {/* A chat shows this above the composer. */}
        {here.page !== 'chat' && <LogInAgain />}
        <CurrentPage here={here} />
      </main>
      <Palette />
      <Shortcuts />
    </div>
  )
}
