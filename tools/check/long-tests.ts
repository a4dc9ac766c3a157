import type { Command } from './run-process.ts'

/** A test that takes too long for the gate. */
export interface LongTest {
  readonly name: string
  readonly summary: string
  /** The usual duration on two idle cores. */
  readonly minutes: number
  /** The path of files of the project `long`, or its beginning; or a command that fails with its exit code. */
  readonly run: { readonly path: string } | { readonly command: Command }
}

export const LONG_TESTS: readonly LongTest[] = [
  {
    name: 'chaos',
    summary:
      'a minute each of kills and freezes, restarts in turn, hostile servers and damage; MCP load',
    minutes: 3,
    run: { path: 'test/chaos' },
  },
  {
    name: 'start',
    summary:
      'npm start: restarts, services that stop or freeze, a full disk, accounts at nats-server; stops at any moment',
    minutes: 6,
    run: { path: 'test/start-' },
  },
  {
    name: 'web',
    summary:
      'the web UI in Chromium: outages, pages of admins, every state with its picture; its flows in Firefox and WebKit',
    minutes: 10,
    run: { path: 'test/web-' },
  },
  {
    name: 'logins',
    summary:
      'logins of users at MCP servers: tokens that end under load, an authorization server that is down, slow servers, the terminal chat',
    minutes: 5,
    run: { path: 'test/upstream-logins.' },
  },
  {
    name: 'library',
    summary:
      'the library as its users install it, its conformance, and misbehaving servers without a leak',
    minutes: 2,
    run: { path: 'packages/mcp-host/test/' },
  },
  {
    name: 'compose',
    summary:
      'images, docker compose up, chaos among its containers, and drills under load, where a container engine runs',
    minutes: 20,
    run: { path: 'test/compose' },
  },
  {
    name: 'proxy',
    summary: 'the proxy of the compose file, where nginx is installed',
    minutes: 1,
    run: { path: 'test/proxy.' },
  },
  {
    name: 'pods',
    summary: 'the pods of overlays/dev, where podman and Kustomize are installed',
    minutes: 4,
    run: { path: 'test/kubernetes-play.' },
  },
  {
    name: 'alerts',
    summary: 'each alert fires and ends in a real Prometheus, where PROMETHEUS_BIN is set',
    minutes: 10,
    run: { path: 'test/alerts.' },
  },
  {
    name: 'fuzz',
    summary: 'hostile input for every parser of outside data',
    minutes: 10,
    run: { command: ['node', 'tools/fuzz.ts', '--minutes', '10'] },
  },
  {
    name: 'conformance',
    summary: 'the MCP conformance suite through gateways, every transport and era',
    minutes: 3,
    run: { command: ['node', 'conformance/main.ts'] },
  },
  {
    name: 'compat',
    summary: 'real MCP servers from npm, directly and through the gateway',
    minutes: 5,
    run: { command: ['node', 'compat/main.ts'] },
  },
]
