import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { Box } from '../parts/box.tsx'
import { LOGIN_URL } from '../state/login-page.ts'
import { loadLogin, login, onLoginElsewhere } from '../state/login.ts'
import { reopenChats } from '../state/open-chats.ts'
import { useStore } from '../state/store.ts'

/**
 * Says that the login has ended. The login page opens in another tab, so that this one keeps what the user has written,
 * and goes on as soon as the user is logged in there.
 */
export function LogInAgain(): ReactNode {
  const isExpired = useStore(login).state === 'expired'
  useEffect(
    () =>
      onLoginElsewhere(() => {
        reopenChats()
        void loadLogin()
      }),
    [],
  )
  if (!isExpired) return null
  return (
    <Box tone="waits" role="alert">
      <strong>Your login has ended.</strong> What you have written stays here.{' '}
      <a href={LOGIN_URL} target="_blank" rel="noopener">
        Log in again
      </a>
    </Box>
  )
}
