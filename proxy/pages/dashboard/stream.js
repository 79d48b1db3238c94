// The news of each second, while the page is visible.

const kRetry = 1000;     // after the proxy has refused or gone
const kLate = 3500;      // without news, contact counts as lost

// Calls `onNews(news)` each second, `onOpen()` when a stream begins, and `onContact(state, since)`
// with 'live' or 'lost' when that changes, and each second while contact is lost.
export function watch({ onNews, onOpen, onContact }) {
  let source = null;
  let heard = Date.now();
  let retry = 0;

  function open() {
    clearTimeout(retry);
    source?.close();
    source = new EventSource('/hearsay/events');
    source.onopen = onOpen;
    source.onmessage = (event) => {
      heard = Date.now();
      onContact('live', heard);
      onNews(JSON.parse(event.data));
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(open, kRetry);
    };
  }

  function close() {
    clearTimeout(retry);
    source?.close();
    source = null;
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return close();
    heard = Date.now();
    return open();
  });
  setInterval(() => {
    if (!document.hidden && Date.now() - heard > kLate) onContact('lost', heard);
  }, 1000);
  if (!document.hidden) open();
}
