import type { Bus } from '@mcp-host/bus'
import {
  callControl,
  mcpClientRequest,
  mcpRequestControl,
  mcpRequest,
  readClientLists,
  resumeRequest,
  runSessionTool,
  runTool,
  supervisorControl,
  watchClientResources,
  watchResources,
} from '@mcp-host/contracts'
import type { Subjects } from '../subjects.ts'

/** All subjects of a supervisor, and what answers each. */
export function bindSubjects(bus: Pick<Bus, 'id' | 'serve' | 'serveOpaque' | 'listen'>): Subjects {
  return {
    supervisor: ({ reload, restart, runSessionTool: run, resume }) =>
      together(
        bus.serve(supervisorControl, { supervisor: bus.id }, async ({ request }) => {
          if (request.action === 'reload') return { reload: await reload() }
          if (request.action === 'restart') await restart(request.server)
          return {}
        }),
        bus.serve(runSessionTool, { supervisor: bus.id }, ({ request, envelope }) => {
          const { server, ...call } = request
          return run(server, { request: call, envelope })
        }),
        bus.serveOpaque(resumeRequest, { supervisor: bus.id }, resume),
      ),
    queue: (server, { runTool: run, forward, watch }) =>
      together(
        bus.serve(runTool, { server }, run),
        bus.serveOpaque(mcpRequest, { server }, forward),
        watch && bus.serve(watchResources, { server }, async ({ request }) => watch(request.uris)),
      ),
    client: (server, client, { forward, watch }) =>
      together(
        bus.serveOpaque(mcpClientRequest, { server, client }, forward),
        bus.serve(watchClientResources, { server, client }, async ({ request }) =>
          watch(request.uris),
        ),
      ),
    clientLists: (server, client, read) => bus.serve(readClientLists, { server, client }, read),
    control: (server, handlers) =>
      bus.listen(mcpRequestControl, { server }, (control) => {
        switch (control.action) {
          case 'cancel':
            return handlers.cancel(control.id)
          case 'ping':
            return handlers.ping(control.id)
          case 'answer':
            return handlers.answer(control.ask, control)
          case 'roots-changed':
            return handlers.rootsChanged(control.client)
          case 'leave':
            return handlers.leave(control.client)
          default:
            return control satisfies never
        }
      }),
    toolCall: (call, cancel) =>
      bus.serve(callControl, { call }, ({ request: { action } }) => {
        if (action === 'cancel') cancel()
        return { supervisor: bus.id }
      }),
  }
}

function together(...all: readonly (Disposable | undefined)[]): Disposable {
  const stack = new DisposableStack()
  for (const each of all) stack.use(each)
  return stack
}
