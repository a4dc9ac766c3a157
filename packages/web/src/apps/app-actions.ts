import { JsonRpcCode } from '@mcp-host/mcp'
import type { Tool } from '@mcp-host/client'
import { safeLink } from '../markdown/links.ts'
import type { ToolHost } from '../state/call-tool.ts'
import { callTool } from '../state/call-tool.ts'
import { objectOf } from '../state/object-of.ts'
import type { AppActions } from './app-connection.ts'
import type { AppMessage } from './app-message.ts'
import { AppFault, textIn } from './app-message.ts'
import { isForApps } from './app-tool.ts'

const MAX_NAME_LENGTH = 200
const MAX_URI_LENGTH = 2_000
const MAX_TEXT_LENGTH = 8_000

/** What an app asks its user. */
export type Wish =
  | { readonly kind: 'call'; readonly tool: string; readonly arguments: object }
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'message'; readonly text: string }

/** The requests to the host of an app's user. */
export interface AppHost extends ToolHost {
  readResource(uri: string, server: string): Promise<readonly object[]>
}

export interface AppActionsDeps {
  /** The server of the app, the only one that it reaches. */
  readonly server: string
  readonly host: AppHost
  readonly findTool: (server: string, name: string) => Promise<Tool | undefined>
  /** Asks the user. */
  readonly ask: (wish: Wish) => Promise<boolean>
  /** Puts a text into the message that the user writes. */
  readonly draft: (text: string) => void
}

/** What an app may do, as its user: the host checks each request like one of the user. */
export function appActions({ server, host, findTool, ask, draft }: AppActionsDeps): AppActions {
  return {
    async callTool(params) {
      const name = textIn(params, 'name', MAX_NAME_LENGTH)
      const given = objectOf(params['arguments'])
      const tool = await findTool(server, name)
      if (tool === undefined || !isForApps(tool)) {
        const message = `name: ${server} has no tool "${name}" for apps`
        throw new AppFault(JsonRpcCode.invalidParams, message)
      }
      const call = { name, given, options: { server } }
      const answer = await callTool(host, call, () =>
        ask({ kind: 'call', tool: name, arguments: given }),
      )
      if (answer === undefined) throw refused(`the user does not allow the call of ${name}`)
      return answer
    },
    async readResource(params) {
      const uri = textIn(params, 'uri', MAX_URI_LENGTH)
      return { contents: await host.readResource(uri, server) }
    },
    async openLink(params) {
      const url = safeLink(textIn(params, 'url', MAX_URI_LENGTH))
      if (url === undefined) {
        const message = 'url: must be an address of http:, https: or mailto:'
        throw new AppFault(JsonRpcCode.invalidParams, message)
      }
      if (!(await ask({ kind: 'link', url }))) throw refused('the user does not open the link')
      return {}
    },
    async sendMessage(params) {
      const text = messageText(params)
      const isAllowed = await ask({ kind: 'message', text })
      if (!isAllowed) throw refused('the user does not take the message')
      draft(text)
      return {}
    },
  }
}

function refused(message: string): AppFault {
  return new AppFault(JsonRpcCode.refused, message)
}

/** The text of a message: one block, or several. Throws `AppFault`. */
function messageText({ content }: AppMessage['params']): string {
  const blocks = [content ?? []].flat().map(objectOf)
  const text = blocks
    .flatMap((block) => (block['type'] === 'text' ? String(block['text']) : []))
    .join('\n')
  return textIn({ content: text.trim() }, 'content', MAX_TEXT_LENGTH)
}
