/** A page around the chats that has no further part in its address. */
interface UserPage {
  /** The address has it behind `#/`. */
  readonly page: string
  readonly name: string
  /** Further words by which it is found. */
  readonly about?: string
  /** What a user needs to see it; absent: nothing. */
  readonly role?: 'admin'
}

const PAGES = [
  { page: 'account', name: 'Account', about: 'connections, API keys' },
  { page: 'approvals', name: 'Approvals' },
  { page: 'audit', name: 'Audit' },
  { page: 'users', name: 'Users', role: 'admin' },
  { page: 'policy', name: 'Policy', role: 'admin' },
  { page: 'limits', name: 'Limits', role: 'admin' },
] as const satisfies readonly UserPage[]

export type PageName = (typeof PAGES)[number]['page']

type NamedPage = UserPage & { readonly page: PageName }
const pages: readonly NamedPage[] = PAGES

/** The page at this part of an address, if there is one. */
export function findPage(part: string | undefined): PageName | undefined {
  return pages.find(({ page }) => page === part)?.page
}

/** The pages that a user with these roles may see. */
export function pagesFor(roles: readonly string[]): readonly NamedPage[] {
  return pages.filter(({ role }) => role === undefined || roles.includes(role))
}

/** The role that a user needs to see a page. */
export function roleFor(page: PageName): UserPage['role'] {
  return pages.find((each) => each.page === page)?.role
}
