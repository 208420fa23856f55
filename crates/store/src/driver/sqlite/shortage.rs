//! What the system has no more of. The engine only says that it could not do something.

use std::fs::File;
use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::io::Errno;

/// With less the engine can neither make its index nor write.
const LITTLE: u64 = 64 * 1024;

pub(crate) fn is_disk_full(path: &Path) -> bool {
    statvfs(path).is_ok_and(|disk| {
        !disk.f_flag.contains(StatVfsMountFlags::RDONLY) && disk.f_bavail * disk.f_frsize < LITTLE
    })
}

/// What an operator can do something about, if that is the cause.
pub(crate) fn of(path: &Path) -> Option<&'static str> {
    let opened = File::open("/dev/null").map_err(|error| error.raw_os_error());
    if let Err(Some(number)) = opened
        && [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error).contains(&number)
    {
        return Some("too many files are open; raise the limit (ulimit -n)");
    }
    is_disk_full(path).then_some("the disk is full; free some space on it")
}
