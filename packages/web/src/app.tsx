import type { ReactNode } from 'react'
import { lazy, Suspense, useEffect } from 'react'
import { CurrentPage } from './pages/current-page.tsx'
import { LogInAgain } from './pages/log-in-again.tsx'
import { Palette } from './pages/palette.tsx'
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

/** The page of a user: a list at the left, and what was chosen of it beside it. */
function OwnPage({ here }: { readonly here: OwnRoute }): ReactNode {
  const known = useStore(login)
  useEffect(() => {
    void loadModels()
    void loadLogin()
    sendLeftMessages()
  }, [])
  if (known.state === 'missing')
    return <SignIn why={`Log in to chat with this host. It says: ${known.why}`} />
  return (
    <div className="frame">
      <Sidebar here={here} />
      <main className="main">
        {/* A chat says it above the message. */}
        {here.page !== 'chat' && <LogInAgain />}
        <CurrentPage here={here} />
      </main>
      <Palette />
    </div>
  )
}
