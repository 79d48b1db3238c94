// Gives the ticket behind the # of this page's URL to the proxy, which answers with a cookie. A
// server that is asked for the page does not see that part of its URL, and no log has it.

const ticket = window.location.hash.slice(1);
const told = document.getElementById('told');

async function signIn() {
  if (!ticket) throw new Error('this link has no ticket: `hearsay dashboard` on the proxy\'s machine prints a whole one');
  const answer = await fetch('/hearsay/session', {
    method: 'POST', headers: { 'X-Hearsay': '1', Authorization: `Bearer ${ticket}` },
  });
  if (!answer.ok) throw new Error(await answer.text());
  window.location.replace('/hearsay/');
}

signIn().catch((error) => {
  window.history.replaceState(null, '', window.location.pathname);
  told.textContent = `Not signed in: ${error.message}`;
});
