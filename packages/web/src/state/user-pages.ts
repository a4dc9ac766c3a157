import type { PageName } from './route.ts'

/** The pages around the chats. `role`: what a user needs to see it; absent: nothing. */
const PAGES: readonly {
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

/** The pages that a user with these roles may see. */
export function pagesFor(roles: readonly string[]): typeof PAGES {
  return PAGES.filter(({ role }) => role === undefined || roles.includes(role))
}

/** The role that a user needs to see a page. */
export function roleFor(page: PageName): 'admin' | undefined {
  return PAGES.find((each) => each.page === page)?.role
}
