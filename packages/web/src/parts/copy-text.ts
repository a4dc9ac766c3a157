/** Puts a text into the clipboard, by a click on `button`. Throws where the browser refuses it. */
export async function copyText(text: string, button: HTMLElement): Promise<void> {
  // Pages that come over plain HTTP have no `navigator.clipboard`.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard !== undefined) return clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.className = 'hidden'
  field.value = text
  // Beside the button: outside of an open dialog nothing can be selected.
  button.after(field)
  field.select()
  // eslint-disable-next-line typescript/no-deprecated -- there is no other way without `navigator.clipboard`
  const isCopied = document.execCommand('copy')
  field.remove()
  button.focus()
  if (!isCopied) throw new Error('the browser does not copy')
}
