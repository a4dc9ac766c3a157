import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { hideCompositionKeys } from './state/composition-keys.ts'
import { prepareNewChat } from './state/route.ts'
import { applyTheme } from './state/theme.ts'

hideCompositionKeys(window)
applyTheme()
const place = document.getElementById('app')
if (place === null) throw new Error('the page has no place for the app')
await prepareNewChat()
createRoot(place).render(<App />)
