// What this browser may see: figures, neighbours and health, or as an administrator also URLs,
// clients and what is stored.
import { at } from './dom.js';

const kForAdmins = ['requests', 'busiest', 'origins', 'why', 'contents'];  // in these cards

async function signOut() {
  await fetch('/hearsay/sign-out', { method: 'POST', headers: { 'X-Hearsay': '1' } });
  window.location.reload();
}

// `about`: as /hearsay/about tells.
export function showRights(about) {
  for (const id of kForAdmins) at(id).closest('section').hidden = !about.admin;
  at('sign-in').hidden = about.admin;
  at('sign-out').hidden = !about.signed_in;
  at('sign-out').addEventListener('click', () => signOut().catch(() => {}));
}

// Whether the rights are still those of `about`. If not, loads the page anew.
export async function checkRights(about) {
  const answer = await fetch('/hearsay/about');
  if (!answer.ok && answer.status !== 403) return true;
  const now = answer.ok ? await answer.json() : {};
  if (now.admin === about.admin && now.signed_in === about.signed_in) return true;
  window.location.reload();
  return false;
}
