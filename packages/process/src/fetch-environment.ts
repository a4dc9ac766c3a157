/** Variables for proxies and private certificate authorities, in upper case. */
const NETWORK: ReadonlySet<string> = new Set([
  'ALL_PROXY',
  'CURL_CA_BUNDLE',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'NO_PROXY',
  'REQUESTS_CA_BUNDLE',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
])

/** Variables for the folders and daemons of package managers, in upper case. */
const LOCATIONS: ReadonlySet<string> = new Set([
  'COREPACK_HOME',
  'DOCKER_CONFIG',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
  'PNPM_HOME',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
])

/** Settings of npm and pnpm, yarn, bun, uv, pip and pipx. */
const SETTINGS = /^(npm_config|pnpm_config|yarn|bun_config|uv|pip|pipx)_/i
const PROXY = /proxy$/i
const CREDENTIAL = /auth|token|passw|secret|credential|username|otp$|key$|^npm_config_cert$/i
const USER_INFO = /:\/\/[^/\s]*@/

/**
 * Whether a launcher such as `npx` or `uvx` needs a variable to fetch its program. The URL of a proxy may contain a
 * password, since nothing can be fetched without it; that of a registry or an index may not.
 */
export function isForFetching(name: string, value: string): boolean {
  const upper = name.toUpperCase()
  if (NETWORK.has(upper) || LOCATIONS.has(upper)) return true
  if (!SETTINGS.test(name) || CREDENTIAL.test(name)) return false
  return PROXY.test(name) || !USER_INFO.test(value)
}
