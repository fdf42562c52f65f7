/**
 * Starts Debian's servers for `ordinary-web.ts`, each from a configuration in a temporary folder and on its own
 * loopback address: nginx, HAProxy, Apache, php-fpm with DokuWiki and MediaWiki, and cgit.
 *
 *   apt-get install --no-install-recommends nginx haproxy apache2 php-fpm php-cli php-xml \
 *     php-intl php-mbstring php-sqlite3 dokuwiki mediawiki cgit fcgiwrap git
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Everything that was started, to be ended at the end. */
export class Servers {
  readonly #folder: string;
  readonly #running: ChildProcess[] = [];
  #nginxes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  stop(): void {
    for (const child of this.#running) child.kill("SIGTERM");
  }

  path(name: string): string {
    const path = join(this.#folder, name);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }

  write(name: string, text: string): string {
    const path = this.path(name);
    writeFileSync(path, text);
    return path;
  }

  /** Starts a server in the foreground; its output goes to a file. */
  async start(command: string, args: readonly string[], ready: string): Promise<string> {
    const log = this.path(`logs/${this.#running.length}-${command.replaceAll("/", "_")}.log`);
    const output = openSync(log, "a");
    const child = spawn(command, args, { stdio: ["ignore", output, output] });
    this.#running.push(child);
    await isReady(ready, () => {
      if (child.exitCode !== null) throw new Error(`${command} ended: see ${log}`);
    });
    return log;
  }

  /** An nginx with one server block; returns its access log. */
  async nginx(listen: string, server: string): Promise<string> {
    this.#nginxes += 1;
    const name = `nginx-${this.#nginxes}`;
    const access = this.path(`logs/${name}-access.log`);
    const conf = this.write(
      `${name}.conf`,
      `daemon off; pid ${this.path(`${name}.pid`)}; user root; worker_processes 1;
error_log ${this.path(`logs/${name}-error.log`)};
events { worker_connections 256; }
http {
  include /etc/nginx/mime.types;
  access_log ${access};
  client_body_temp_path ${this.path(`${name}/body`)}; fastcgi_temp_path ${this.path(`${name}/f`)};
  proxy_temp_path ${this.path(`${name}/p`)}; scgi_temp_path ${this.path(`${name}/s`)};
  uwsgi_temp_path ${this.path(`${name}/u`)};
  server { listen ${listen}; ${server} }
}
`,
    );
    await this.start("nginx", ["-c", conf], listen);
    return access;
  }
}

/** Waits until something listens on `host:port` or on a socket file. */
async function isReady(where: string, check: () => void): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    check();
    if (where.startsWith("/") ? existsSync(where) : await canConnect(where)) return;
    await wait(100);
  }
  throw new Error(`nothing listens on ${where}`);
}

function canConnect(where: string): Promise<boolean> {
  const [host = "", port = ""] = where.split(":");
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** `count` pages that link to each other; every page can be reached from the first in a few steps. */
function chainOfPages(servers: Servers, count: number): string {
  for (let page = 0; page < count; page++) {
    const links = [2 * page + 1, 2 * page + 2]
      .filter((next) => next < count)
      .map((next) => `<a href="/${next}.html">page ${next}</a>`);
    const text = `This is page ${page} of ${count}. Its number squared is ${page * page}. `.repeat(
      4,
    );
    const html = `<!doctype html><title>Page ${page}</title><h1>Page ${page}</h1><p>${text}${links.join(" ")}`;
    servers.write(`pages/${page === 0 ? "index" : page}.html`, html);
  }
  return servers.path("pages");
}

/** nginx behind an HAProxy that allows 100 requests in 10 s; returns HAProxy's log. */
export async function rateLimited(
  servers: Servers,
  listen: string,
  pages: number,
): Promise<string> {
  const backend = "127.0.18.1:18081";
  await servers.nginx(backend, `root ${chainOfPages(servers, pages)};`);
  const conf = servers.write(
    "haproxy.cfg",
    `global
  log stdout format raw local0
defaults
  mode http
  log global
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  log-format "%Ts.%ms %ST %HP"
frontend web
  bind ${listen}
  stick-table type ip size 1k expire 60s store http_req_rate(10s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 100 }
  default_backend pages
backend pages
  server one ${backend}
`,
  );
  return servers.start("haproxy", ["-f", conf], listen);
}

/** Four folders of 15 text files each, listed by Apache (FancyIndexing, sort orders). */
export async function apacheListing(servers: Servers, listen: string): Promise<void> {
  const root = listedFiles(servers, "apache-files", 4, 15);
  const conf = servers.write(
    "apache.conf",
    `ServerRoot /etc/apache2
ServerName localhost
PidFile ${servers.path("apache.pid")}
Mutex file:${dirname(servers.path("mutex/x"))}
ErrorLog ${servers.path("logs/apache-error.log")}
Listen ${listen}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule autoindex_module /usr/lib/apache2/modules/mod_autoindex.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
TypesConfig /etc/mime.types
User www-data
Group www-data
DocumentRoot ${root}
<Directory ${root}>
  Require all granted
  Options Indexes
  IndexOptions FancyIndexing HTMLTable
</Directory>
`,
  );
  await servers.start("apache2", ["-f", conf, "-D", "FOREGROUND"], listen);
}

/** The same files, listed by nginx. */
export async function nginxListing(servers: Servers, listen: string): Promise<void> {
  const root = listedFiles(servers, "nginx-files", 4, 15);
  await servers.nginx(listen, `root ${root}; autoindex on;`);
}

function listedFiles(servers: Servers, name: string, folders: number, files: number): string {
  for (let folder = 0; folder < folders; folder++)
    for (let file = 0; file < files; file++) {
      const title = `Report ${folder}-${file}`;
      const words = Array.from(
        { length: 60 },
        (_, at) => `item${(folder * 31 + file * 7 + at * at) % 997}`,
      );
      servers.write(
        `${name}/series-${folder}/report-${file}.html`,
        `<!doctype html><title>${title}</title><h1>${title}</h1><p>${words.join(" ")}`,
      );
    }
  const root = servers.path(name);
  execFileSync("chmod", ["-R", "a+rX", root]);
  return root;
}

let phps = 0;

/** A PHP process for nginx; returns its socket. */
async function php(servers: Servers): Promise<string> {
  const socket = servers.path(`php-${++phps}.sock`);
  const conf = servers.write(
    `php-fpm-${phps}.conf`,
    `[global]
error_log = ${servers.path("logs/php-fpm.log")}
daemonize = no
[web]
user = www-data
group = www-data
listen = ${socket}
listen.mode = 0666
pm = static
pm.max_children = 4
`,
  );
  await servers.start("php-fpm8.2", ["--nodaemonize", "--fpm-config", conf], socket);
  return socket;
}

const WIKI_NAMESPACES = ["plants", "animals", "minerals", "tools"];
const WIKI_PAGES = 15;

/** A DokuWiki of 61 articles in namespaces, with its own sidebar, media and revisions. */
export async function dokuWiki(servers: Servers, listen: string): Promise<void> {
  const root = servers.path("dokuwiki");
  execFileSync("cp", ["-rL", "/usr/share/dokuwiki", root]);
  execFileSync("cp", ["-rL", "/etc/dokuwiki", join(root, "conf")]);
  execFileSync("cp", ["-rL", "/var/lib/dokuwiki/data", join(root, "data")]);
  servers.write(
    "dokuwiki/conf/local.php",
    `<?php
$conf['title'] = 'Garden';
$conf['license'] = '0';
$conf['useacl'] = 0;
$conf['userewrite'] = 0;
$conf['indexdelay'] = 0;
$conf['savedir'] = '${root}/data';
`,
  );
  // Debian's copy reads its settings from /etc.
  servers.write(
    "dokuwiki/inc/preload.php",
    `<?php define('DOKU_MAIN_CONF', '${root}/conf/'); define('DOKU_CONF', '${root}/conf/');
include '/usr/share/dokuwiki/inc/preload.php';
`,
  );
  const pages = `dokuwiki/data/pages`;
  servers.write(
    `${pages}/start.txt`,
    `====== Start ======\n${WIKI_NAMESPACES.map((name) => `  * [[${name}:number0|${name}]]`).join("\n")}\n`,
  );
  for (const [at, name] of WIKI_NAMESPACES.entries())
    for (let page = 0; page < WIKI_PAGES; page++) {
      const words = Array.from(
        { length: 80 },
        (_, word) => `${name}${(at * 13 + page * 17 + word * word) % 499}`,
      );
      const links = [page + 1, page + 2]
        .filter((next) => next < WIKI_PAGES)
        .map((next) => `[[${name}:number${next}]]`);
      const text = `====== ${name} ${page} ======\n${words.join(" ")}\n\n===== More =====\n${links.join(" ")} [[${name}:missing${page}]]\n`;
      servers.write(`${pages}/${name}/number${page}.txt`, text);
    }
  execFileSync("chown", ["-R", "www-data:www-data", root]);
  const socket = await php(servers);
  await servers.nginx(
    listen,
    `root ${root}; index doku.php;
    location ~ /(conf|data|bin|inc)/ { deny all; }
    location ~ \\.php$ { include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; fastcgi_pass unix:${socket}; }`,
  );
}

const ARTICLES = 60;

/** A MediaWiki with SQLite: articles that link to each other, with categories and talk pages. */
export async function mediaWiki(servers: Servers, listen: string): Promise<void> {
  const root = servers.path("mediawiki");
  execFileSync("cp", ["-r", "/usr/share/mediawiki", root]);
  execFileSync("sh", [
    "-c",
    `cd '${root}' && find . -type l | while read link; do
       target=$(readlink -f "$link"); rm "$link"; [ -e "$target" ] && cp -rL "$target" "$link"; done; rm -f LocalSettings.php`,
  ]);
  const data = servers.path("mediawiki-data");
  mkdirSync(data, { recursive: true });
  const maintain = (script: string, ...args: string[]): void =>
    void execFileSync("php", [join(root, "maintenance", script), ...args], { stdio: "pipe" });
  const database = ["--dbtype", "sqlite", "--dbpath", data, "--dbname", "garden"];
  const place = ["--server", `http://${listen}`, "--scriptpath", "", "--confpath", root];
  maintain("install.php", ...database, ...place, "--pass", "a-long-Passw0rd", "Garden", "Admin");
  const texts: string[] = [];
  for (let article = 0; article < ARTICLES; article++) {
    const words = Array.from({ length: 90 }, (_, at) => `plant${(article * 37 + at * at) % 4_999}`);
    const links = [2 * article + 1, 2 * article + 2]
      .filter((next) => next < ARTICLES)
      .map((next) => `[[Plant ${next}]]`);
    const name = article === 0 ? "Main Page" : `Plant ${article}`;
    const text = `${words.slice(0, 45).join(" ")} ${links.join(" ")} [[Missing ${article}]]
== More ==
${words.slice(45).join(" ")}
[[Category:Group ${article % 4}]]
`;
    texts.push(servers.write(`mediawiki-texts/${name}`, text));
  }
  maintain("importTextFiles.php", "--overwrite", ...texts);
  maintain("runJobs.php");
  execFileSync("chown", ["-R", "www-data:www-data", root, data]);
  const socket = await php(servers);
  await servers.nginx(
    listen,
    `root ${root}; index index.php;
    location ~ ^/(maintenance|includes|languages)/ { deny all; }
    location ~ \\.php(/|$) { include /etc/nginx/fastcgi_params; fastcgi_split_path_info ^(.+\\.php)(/.*)$;
      fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
      fastcgi_param PATH_INFO $fastcgi_path_info; fastcgi_pass unix:${socket}; }`,
  );
}

/** cgit over a repository of 30 commits. */
export async function cgit(servers: Servers, listen: string): Promise<void> {
  const repo = servers.path("repos/garden");
  mkdirSync(repo, { recursive: true });
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-C", repo, "-c", "user.name=A", "-c", "user.email=a@b.c", ...args]);
  git("init", "-q");
  for (let commit = 0; commit < 30; commit++) {
    servers.write(`repos/garden/file${commit % 10}.txt`, `Line ${commit}\n`.repeat(1 + commit));
    git("add", ".");
    git("commit", "-qm", `Change ${commit}`);
  }
  execFileSync("chmod", ["-R", "a+rX", servers.path("repos")]);
  const cache = servers.path("cgit-cache");
  const rc = servers.write(
    "cgitrc",
    `css=/cgit.css\nlogo=/cgit.png\nrobots=\nvirtual-root=/\ncache-root=${cache}\nrepo.url=garden\nrepo.path=${repo}/.git\n`,
  );
  const socket = servers.path("fcgi.sock");
  await servers.start("fcgiwrap", ["-s", `unix:${socket}`], socket);
  chmodSync(socket, 0o666);
  await servers.nginx(
    listen,
    `root /usr/share/cgit; try_files $uri @cgit;
    location @cgit { include /etc/nginx/fastcgi_params; fastcgi_param CGIT_CONFIG ${rc};
      fastcgi_param SCRIPT_FILENAME /usr/lib/cgit/cgit.cgi; fastcgi_param PATH_INFO $uri;
      fastcgi_param QUERY_STRING $args; fastcgi_pass unix:${socket}; }`,
  );
}
