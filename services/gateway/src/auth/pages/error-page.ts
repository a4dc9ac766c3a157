import { alert, html, page } from './page.ts'

/** The page with an error and its remedy. */
export function errorPage({
  title,
  text,
  advice,
  again,
}: {
  readonly title: string
  readonly text: string
  readonly advice?: string
  /** The path at which the user can try again. */
  readonly again?: string
}): string {
  return page(
    title,
    html`${alert(text)} ${advice === undefined ? undefined : html`<p>${advice}</p>`}
    ${again === undefined ? undefined : html`<p><a href="${again}">Try again</a></p>`}`,
  )
}
