/** A text that others wrote, such as MCP servers: without what would steer the terminal. Lines stay. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what it is for
  return text.replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, ' ')
}
