// Lists the files of the model o/r and downloads them, with the client that the hub's own makers have
// for JavaScript. Prints the SHA-256 of all.
//   hub_client.mjs NODE_MODULES HUB REVISION
import { createHash } from 'node:crypto';

const [modules, hubUrl, revision] = process.argv.slice(2);
const { downloadFile, listFiles } = await import(`${modules}/@huggingface/hub/dist/index.mjs`);

const repo = { type: 'model', name: 'o/r' };
const hash = createHash('sha256');
for await (const { path } of listFiles({ repo, revision, hubUrl, recursive: true })) {
  const file = await downloadFile({ repo, path, revision, hubUrl });
  for await (const bytes of file.stream()) hash.update(bytes);
}
console.log(hash.digest('hex'));
