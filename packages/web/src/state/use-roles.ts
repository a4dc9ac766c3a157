import { login } from './login.ts'
import { useStore } from './store.ts'

/** The roles of the user; none until the host has named them. */
export function useRoles(): readonly string[] {
  const known = useStore(login)
  return 'principal' in known ? known.principal.roles : []
}
