import { BASE_STYLE } from '../../pages/base-style.ts'

/** The style sheet of the pages for logins, invitations and consents: one narrow column. */
export const STYLE = `${BASE_STYLE}
body { padding-block: min(12vh, 7rem) var(--s-4) }
main { max-width: 26rem; padding-block: var(--s-4) }
h1 { margin-bottom: var(--s-3); font-size: var(--t-5) }
p, ul, dl { margin-bottom: var(--s-4) }
.brand {
  display: flex; align-items: center; gap: var(--s-2); margin-bottom: var(--s-5);
  font-size: var(--t-2); font-weight: var(--strong);
}
.soft { color: var(--ink-3); font-size: var(--t-2); line-height: var(--leading-ui) }

/* A failure, with a drawn cross. */
.alert {
  position: relative; padding: 0.6rem var(--s-3) 0.6rem var(--s-6); color: var(--bad-ink); background: var(--bad-soft);
  border: 1px solid var(--bad-line); border-radius: var(--r-2); font-size: var(--t-2); line-height: var(--leading-ui);
}
.alert::before, .alert::after {
  content: ''; position: absolute; top: 1.2rem; left: 0.7rem; width: 0.7rem; height: 1.7px;
  background: var(--bad-mark); rotate: 45deg; forced-color-adjust: none;
}
.alert::after { rotate: -45deg }

/* Fields: the label and its hint above the input. */
form { margin-bottom: var(--s-4) }
label {
  display: grid; grid-template-columns: auto 1fr; gap: var(--s-1) var(--s-2); align-items: baseline;
  margin-bottom: var(--s-4); font-size: var(--t-2); line-height: var(--leading-ui);
}
label span { justify-self: end; color: var(--ink-3); font-size: var(--t-1) }
input {
  grid-column: 1 / -1; width: 100%; min-height: var(--control); padding: 5px var(--s-2);
  font: inherit; font-size-adjust: inherit; color: inherit; background: var(--raised);
  border: 1px solid var(--edge); border-radius: var(--r-2);
}

/* Buttons: brass for the one act that the page waits for, an outline for the others, none for side ways. */
button, a.button {
  display: inline-flex; align-items: center; justify-content: center;
  min-height: var(--control); padding-inline: var(--s-3);
  font: inherit; font-size: var(--t-2); font-size-adjust: inherit; line-height: var(--leading-ui);
  color: inherit; background: var(--raised); text-decoration: none; cursor: pointer;
  border: 1px solid var(--line-strong); border-radius: var(--r-2); transition: background var(--quick) var(--ease);
}
:is(button, a.button):hover { background: var(--hover) }
button.move {
  font-weight: var(--strong); color: var(--on-accent); background: var(--accent); border-color: var(--accent-mark);
}
button.move:hover { background: var(--accent); filter: brightness(1.06) }
button.bare { margin-inline-start: calc(-1px - var(--s-3)); background: none; border-color: transparent }
button.bare:hover { background: var(--hover) }
.acts { display: flex; flex-wrap: wrap; gap: var(--s-2); margin-bottom: var(--s-2) }

/* Rows between rules: the rights of a client, the connected programs. */
ul { padding: 0; list-style: none }
li, .row { padding-block: var(--s-2); border-bottom: 1px solid var(--line); line-height: var(--leading-ui) }
ul, .rows { border-top: 1px solid var(--line) }
.rows { margin-bottom: var(--s-4) }
.row { display: flex; align-items: center; gap: var(--s-2) var(--s-3); flex-wrap: wrap; margin: 0 }
.row dl { flex: 1 1 16rem; min-width: 0; margin: 0 }
input + p { margin-block-start: var(--s-2) }
.row dt { font-weight: var(--strong) }
.row dd { color: var(--ink-3); font-size: var(--t-2) }
.sheet { display: grid; grid-template-columns: 5.5rem 1fr; gap: var(--s-1) 0; align-items: baseline; font-size: var(--t-2) }
.sheet dt { color: var(--ink-3); font-size: var(--t-1) }
.well {
  padding: var(--s-2) var(--s-3); background: var(--well); border: 1px solid var(--line); border-radius: var(--r-2);
}
.well code { line-height: var(--leading-ui) }

@media (max-width: 760px) {
  body { padding-block-start: var(--s-2) }
  input { font-size: 1rem }
  form > button, a.button, .acts button { width: 100% }
  .row > button { width: auto }
  .sheet { grid-template-columns: 1fr; gap: 0 }
  button.bare { margin-inline-start: 0 }
}
`
